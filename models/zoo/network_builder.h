#pragma once

#include <string>
#include <vector>

#include "models/forward_model.h"
#include "models/graph/graph_builder.h"

namespace aflguard::models {

/// Writes a forward model layer by layer, with the first values that the paper's experiments use: weights
/// uniform in +-sqrt(2.24 / ((fan_in + fan_out) / 2)), biases 0, scales of normalisations 1.
class NetworkBuilder final {
 public:
  NetworkBuilder(std::string name, const std::vector<std::size_t>& input_shape);

  [[nodiscard]] const Value& input() const { return input_; }
  [[nodiscard]] GraphBuilder& graph() { return builder_; }

  /// Square kernel; parameters NAME.weight and, if asked for, NAME.bias.
  Value conv(const std::string& name, const Value& x, std::int64_t filters, std::int64_t kernel,
             std::int64_t stride, std::int64_t pad, bool bias);
  /// Parameters NAME.weight [outputs, inputs] and NAME.bias.
  Value dense(const std::string& name, const Value& x, std::int64_t outputs);
  /// The same without randomness in its first values, for linear models.
  Value linear(const std::string& weight, const std::string& bias, const Value& x, std::int64_t outputs);
  Value batch_norm(const std::string& name, const Value& x);
  Value group_norm(const std::string& name, const Value& x, std::int64_t groups);
  Value relu(const Value& x) { return builder_.emit("Relu", {x}); }
  Value max_pool(const Value& x, std::int64_t kernel);
  Value flatten(const Value& x);

  [[nodiscard]] Result<ForwardModel> finish(const Value& output);

 private:
  Value parameter(const std::string& name, const std::vector<std::int64_t>& shape, Initializer initializer,
                  double bound = 0);

  std::string name_;
  Graph graph_;
  OperatorSet operators_ = standard_operators();
  GraphBuilder builder_{graph_, operators_};
  Value input_;
  std::vector<ForwardParameter> parameters_;
};

}  // namespace aflguard::models
