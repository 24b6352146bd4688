#include "models/zoo/network_builder.h"
#include "models/zoo/zoo.h"

namespace aflguard::models {

/// The paper's synthetic data are linear without an intercept, so the model has none.
Result<ForwardModel> build_linear_regression(const ZooOptions& options) {
  NetworkBuilder network("linear-regression", {options.features.value_or(100)});
  return network.finish(network.linear("weight", "", network.input(), 1));
}

Result<ForwardModel> build_logistic_regression(const ZooOptions& options) {
  NetworkBuilder network("logistic-regression", {options.features.value_or(561)});
  const auto classes = static_cast<std::int64_t>(options.classes.value_or(6));
  return network.finish(network.linear("weight", "bias", network.input(), classes));
}

}  // namespace aflguard::models
