#include "models/zoo/network_builder.h"
#include "models/zoo/zoo.h"

namespace aflguard::models {
namespace {

constexpr std::int64_t kGroupCount = 8;

enum class Norm : std::uint8_t { kBatchStatistics, kGroups };

class ResNet final {
 public:
  ResNet(const std::string& name, const std::vector<std::size_t>& shape, Norm norm)
      : network_(name, shape), norm_(norm) {}

  Result<ForwardModel> build(std::int64_t classes) {
    GraphBuilder& g = network_.graph();
    Value x = network_.relu(normed("norm1", network_.conv("conv1", network_.input(), 16, 3, 1, 1, false)));
    for (const std::int64_t stage : {1, 2, 3}) {
      for (const std::int64_t index : {0, 1, 2}) {
        const std::string name = "layer" + std::to_string(stage) + "." + std::to_string(index);
        x = block(name, x, std::int64_t{16} << (stage - 1), stage > 1 && index == 0 ? 2 : 1);
      }
    }
    return network_.finish(network_.dense("fc", g.reduce_mean(x, {2, 3}, false), classes));
  }

 private:
  Value normed(const std::string& name, const Value& x) {
    return norm_ == Norm::kBatchStatistics ? network_.batch_norm(name, x)
                                           : network_.group_norm(name, x, kGroupCount);
  }

  Value block(const std::string& name, const Value& x, std::int64_t filters, std::int64_t stride) {
    const Value first = network_.conv(name + ".conv1", x, filters, 3, stride, 1, false);
    const Value hidden = network_.relu(normed(name + ".norm1", first));
    const Value second = network_.conv(name + ".conv2", hidden, filters, 3, 1, 1, false);
    return network_.relu(network_.graph().add(normed(name + ".norm2", second), shortcut(x, filters, stride)));
  }

  /// The original network's shortcut for CIFAR: every second pixel, missing channels zero; no parameters.
  Value shortcut(const Value& x, std::int64_t filters, std::int64_t stride) {
    GraphBuilder& g = network_.graph();
    if (stride == 1 || !g.status().ok()) return x;
    const Shape shape = g.shape(x);
    const Value sparse = g.slice(x, {2, 3}, {0, 0}, {shape[2].value, shape[3].value}, {stride, stride});
    const std::int64_t missing = filters - shape[1].value;
    return g.pad(sparse, {0, missing / 2, 0, 0, 0, missing - missing / 2, 0, 0});
  }

  NetworkBuilder network_;
  Norm norm_;
};

Result<ForwardModel> build(const std::string& name, const ZooOptions& options, Norm norm) {
  const std::vector<std::size_t> shape =
      options.input_shape.empty() ? std::vector<std::size_t>{3, 32, 32} : options.input_shape;
  return ResNet(name, shape, norm).build(static_cast<std::int64_t>(options.classes.value_or(10)));
}

}  // namespace

Result<ForwardModel> build_resnet20(const ZooOptions& options) {
  return build("resnet20", options, Norm::kBatchStatistics);
}

Result<ForwardModel> build_resnet20_group_norm(const ZooOptions& options) {
  return build("resnet20-gn", options, Norm::kGroups);
}

}  // namespace aflguard::models
