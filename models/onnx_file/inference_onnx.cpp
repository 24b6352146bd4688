#include "models/onnx_file/inference_onnx.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <onnx/checker.h>
#undef fail_check  // a macro of the checker with the name of a function of ours
#include <onnx/onnx_pb.h>
#include <set>

namespace aflguard::models {
namespace {

constexpr const char* kTheta = "theta";
constexpr const char* kSplitNodes =
    "theta_split/";  // how training_graph.cpp names the nodes that cut theta up

Status check_theta(const ModelDescription& model, std::span<const float> theta) {
  if (theta.size() != model.dimension()) {
    return invalid_input("the parameters are " + std::to_string(theta.size()) + " numbers, model '" +
                         model.name + "' has " + std::to_string(model.dimension()));
  }
  const auto odd = std::find_if(theta.begin(), theta.end(), [](float v) { return !std::isfinite(v); });
  if (odd == theta.end()) return {};
  return invalid_input("parameter number " + std::to_string(odd - theta.begin()) + " is not finite");
}

/// Puts parameters into a graph that cuts them out of one flat input by Split and Reshape.
class ParameterBaker final {
 public:
  ParameterBaker(const ModelDescription& model, std::span<const float> theta, onnx::GraphProto& graph)
      : model_(model), theta_(theta), graph_(graph) {
    for (const auto& node : graph.node()) names_.insert(node.output().begin(), node.output().end());
    for (const auto& input : graph.input()) names_.insert(input.name());
    for (const auto& constant : graph.initializer()) names_.insert(constant.name());
  }

  void bake() {
    if (model_.parameters.size() == 1) parts_[kTheta] = 0;
    google::protobuf::RepeatedPtrField<onnx::NodeProto> kept;
    for (auto& node : *graph_.mutable_node()) {
      if (!takes_apart(node)) *kept.Add() = node;
    }
    graph_.mutable_node()->Swap(&kept);
    for (auto& node : *graph_.mutable_node()) {
      for (auto& input : *node.mutable_input()) {
        if (const auto part = parts_.find(input); part != parts_.end())
          input = initializer(input, part->second);
      }
    }
    remove_input();
    remove_unused();
  }

 private:
  /// True for the nodes that only cut theta into parameters; remembers what they give.
  bool takes_apart(const onnx::NodeProto& node) {
    if (!node.name().starts_with(kSplitNodes)) return false;
    if (node.op_type() == "Split" && node.input(0) == kTheta) {
      for (int i = 0; i < node.output_size(); ++i) parts_[node.output(i)] = static_cast<std::size_t>(i);
      return true;
    }
    if (node.op_type() != "Reshape") return false;
    const auto part = parts_.find(node.input(0));
    if (part == parts_.end()) return false;
    shaped_.insert(node.output(0));
    parts_[node.output(0)] = part->second;
    return true;
  }

  /// The name of the constant that stands for `value`, made when first asked for.
  std::string initializer(const std::string& value, std::size_t index) {
    const Parameter& parameter = model_.parameters[index];
    const bool shaped = shaped_.contains(value);
    std::string& name = made_[{index, shaped}];
    if (!name.empty()) return name;
    name = parameter.name;
    while (!names_.insert(name).second) name += "_";
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    if (shaped) {
      for (const std::size_t extent : parameter.shape) tensor.add_dims(static_cast<std::int64_t>(extent));
    } else {
      tensor.add_dims(static_cast<std::int64_t>(parameter.size()));
    }
    const auto values = theta_.subspan(parameter.offset, parameter.size());
    tensor.set_raw_data(values.data(), values.size_bytes());
    return name;
  }

  void remove_input() {
    auto* inputs = graph_.mutable_input();
    inputs->erase(std::remove_if(inputs->begin(), inputs->end(),
                                 [](const onnx::ValueInfoProto& input) { return input.name() == kTheta; }),
                  inputs->end());
  }

  /// The shapes that the removed nodes needed.
  void remove_unused() {
    std::set<std::string> used;
    for (const auto& node : graph_.node()) used.insert(node.input().begin(), node.input().end());
    auto* constants = graph_.mutable_initializer();
    constants->erase(std::remove_if(constants->begin(), constants->end(),
                                    [&used](const onnx::TensorProto& constant) {
                                      return !used.contains(constant.name());
                                    }),
                     constants->end());
  }

  const ModelDescription& model_;
  std::span<const float> theta_;
  onnx::GraphProto& graph_;
  std::set<std::string> names_;                               ///< taken
  std::map<std::string, std::size_t> parts_;                  ///< value -> parameter
  std::set<std::string> shaped_;                              ///< values that have the parameter's own shape
  std::map<std::pair<std::size_t, bool>, std::string> made_;  ///< parameter, shaped -> constant
};

}  // namespace

Result<std::string> inference_onnx(const ModelPackage& package, std::span<const float> theta) {
  TRY_STATUS(check_theta(package.description, theta));
  onnx::ModelProto model;
  if (!model.ParseFromString(package.eval_graph)) return corrupt("the evaluation graph is not an ONNX model");
  ParameterBaker(package.description, theta, *model.mutable_graph()).bake();
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& problem) {
    return internal_error(std::string("the file with the parameters inside is not valid ONNX: ") +
                          problem.what());
  }
  std::string bytes;
  if (!model.SerializeToString(&bytes)) return internal_error("the ONNX file could not be written");
  return bytes;
}

}  // namespace aflguard::models
