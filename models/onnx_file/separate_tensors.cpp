#include "models/onnx_file/separate_tensors.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace aflguard::models {
namespace {

constexpr std::array<const char*, 4> kNormalizations = {"BatchNormalization", "InstanceNormalization",
                                                        "LayerNormalization", "GroupNormalization"};
constexpr std::array<const char*, 5> kRoles = {"", "scale", "bias", "mean", "variance"};

class Separation final {
 public:
  explicit Separation(OnnxModel& model) : model_(model) {
    for (const OnnxInitializer& initializer : model.initializers)
      tensors_[initializer.name] = initializer.tensor;
    for (const Node& node : model.nodes) taken_.insert(node.outputs.begin(), node.outputs.end());
    for (const OnnxInput& input : model.inputs) taken_.insert(input.name);
  }

  std::vector<std::string> run() {
    std::erase_if(model_.nodes, [this](const Node& node) { return passes_on(node); });
    for (Node& node : model_.nodes) {
      const bool normalizes = node.op.domain.empty() &&
                              std::ranges::find(kNormalizations, node.op.op_type) != kNormalizations.end();
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const std::string input = node.inputs[i];
        if (!tensors_.contains(input) || used_.insert(input).second) continue;
        if (!normalizes || i == 0 || i >= kRoles.size()) continue;
        node.inputs[i] = add((node.name.empty() ? node.outputs.front() : node.name) + "." + kRoles[i], input);
        used_.insert(node.inputs[i]);
      }
    }
    return std::move(made_);
  }

 private:
  /// An Identity that stands for a separate vector becomes that vector.
  bool passes_on(const Node& node) {
    if (!node.op.domain.empty() || node.op.op_type != "Identity" || node.outputs.size() != 1) return false;
    const auto found = tensors_.find(node.input(0));
    const bool output = std::ranges::find(model_.outputs, node.outputs.front()) != model_.outputs.end();
    if (found == tensors_.end() || found->second.shape.size() > 1 || output) return false;
    taken_.erase(node.outputs.front());
    add(node.outputs.front(), node.input(0));
    return true;
  }

  std::string add(std::string name, const std::string& from) {
    while (tensors_.contains(name) || taken_.contains(name)) name += '_';
    const Tensor tensor = tensors_.at(from);
    tensors_[name] = tensor;
    model_.initializers.push_back({name, tensor});
    made_.push_back(name);
    return name;
  }

  OnnxModel& model_;
  std::map<std::string, Tensor> tensors_;
  std::set<std::string> taken_;
  std::set<std::string> used_;
  std::vector<std::string> made_;
};

}  // namespace

std::vector<std::string> separate_equal_tensors(OnnxModel& model) {
  return Separation(model).run();
}

}  // namespace aflguard::models
