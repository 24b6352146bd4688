#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

TEST("Parameters that share one gradient each get it, in both graphs of a package") {
  // Two heads that are summed: their weights have the same gradient, and so have their biases.
  FileBuilder file({4});
  file.weight("a", {4, 3}).weight("b", {4, 3}).weight("c", {3}).weight("d", {3});
  file.node("Gemm", {"x", "a", "c"}, "first").node("Gemm", {"x", "b", "d"}, "second");
  file.node("Add", {"first", "second"}, "out");
  const auto model = import_model(file.model, standard_operators(), {});
  ASSERT_OK(model);
  const auto built =
      build_package(*model, {Loss::kMeanSquaredError, OpsFlavor::kFused, NormStatistics::kBatch});
  ASSERT_OK(built);
  const std::vector<float> x{1, -2, 3, 0.5F, 2, 1, -1, 4};
  const std::vector<float> y{1, 2, 3, 4, 5, 6};
  std::vector<std::vector<float>> gradients;
  for (const GraphChoice graph : {GraphChoice::kStandard, GraphChoice::kFused}) {
    gradients.emplace_back(built->package.description.dimension());
    const auto loss = trainer_of(built->package, graph)
                          ->gradient(built->package.initial, Batch{2, x, {}, y}, gradients.back());
    ASSERT_OK(loss);
  }
  for (std::size_t i = 0; i < gradients[0].size(); ++i) {
    TEST_ASSERT_FLOAT_WITHIN(1e-5F, gradients[0][i], gradients[1][i]);
    const std::size_t twin = i < 12 ? i + 12 : i < 24 ? i - 12 : i < 27 ? i + 3 : i - 3;
    TEST_ASSERT_EQUAL_FLOAT(gradients[0][i], gradients[0][twin]);
  }
}
