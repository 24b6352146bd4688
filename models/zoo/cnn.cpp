#include "models/zoo/network_builder.h"
#include "models/zoo/zoo.h"

namespace aflguard::models {

/// The network of the paper's MNIST and Fashion-MNIST experiments (its table "The CNN architecture").
Result<ForwardModel> build_cnn(const ZooOptions& options) {
  const std::vector<std::size_t> shape =
      options.input_shape.empty() ? std::vector<std::size_t>{1, 28, 28} : options.input_shape;
  NetworkBuilder n("cnn", shape);
  Value x = n.max_pool(n.relu(n.conv("conv1", n.input(), 30, 3, 1, 0, true)), 2);
  x = n.max_pool(n.relu(n.conv("conv2", x, 50, 3, 1, 0, true)), 2);
  x = n.relu(n.dense("fc1", n.flatten(x), 100));
  return n.finish(n.dense("fc2", x, static_cast<std::int64_t>(options.classes.value_or(10))));
}

}  // namespace aflguard::models
