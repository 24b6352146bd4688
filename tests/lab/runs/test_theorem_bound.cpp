#include <cmath>

#include "lab/runs/theorem_bound.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;

TEST("At the paper's own settings the theorem's bound says nothing") {
  const auto bound = evaluate_bound({});
  ASSERT_OK(bound);
  TEST_ASSERT_TRUE(bound->q < 0);
  TEST_ASSERT_TRUE(bound->q_without_sampling < 0);  // more trusted data would not help at lambda 1.5
  TEST_ASSERT_FALSE(bound->after_iterations.has_value());
  TEST_ASSERT_FALSE(bound->needed_trusted_size.has_value());
}

TEST("At rate 1 the theorem needs lambda under 1, at small rates under 1/2") {
  BoundSettings settings;
  settings.learning_rate = 1;
  TEST_ASSERT_EQUAL_DOUBLE(1, evaluate_bound(settings)->largest_lambda);
  settings.learning_rate = 1e-6;
  TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.5, evaluate_bound(settings)->largest_lambda);
}

TEST("With a small lambda and enough trusted samples the bound holds and matches its formula") {
  BoundSettings settings;
  settings.lambda = 0.1;
  settings.learning_rate = 1;
  const auto few = evaluate_bound(settings);
  TEST_ASSERT_FALSE(few->limit.has_value());
  TEST_ASSERT_TRUE(few->needed_trusted_size.has_value());
  settings.trusted_size = static_cast<std::size_t>(*few->needed_trusted_size) * 4;
  const auto many = evaluate_bound(settings);
  TEST_ASSERT_TRUE(many->q > 0);
  const double limit = 4 * many->gamma * 1.1 / many->q;
  TEST_ASSERT_DOUBLE_WITHIN(1e-12, limit, *many->limit);
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, limit, *many->after_iterations);
  settings.trusted_size = static_cast<std::size_t>(*few->needed_trusted_size) - 1;
  TEST_ASSERT_TRUE(evaluate_bound(settings)->q <= 0);
}

TEST("Rates and probabilities outside the theorem are refused") {
  BoundSettings settings;
  settings.learning_rate = 1.5;
  TEST_ASSERT_FALSE(evaluate_bound(settings).ok());
  settings.learning_rate = 0.5;
  settings.beta = 1;
  TEST_ASSERT_FALSE(evaluate_bound(settings).ok());
}
