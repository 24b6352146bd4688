#include <cmath>

#include "core/base/random.h"
#include "core/encoding/model_grid.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kCount = 6400;

std::vector<float> noise(double size, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(kCount);
  for (float& number : numbers) number = static_cast<float>(random.normal() * size);
  return numbers;
}

std::vector<float> sum(std::vector<float> one, const std::vector<float>& other) {
  for (std::size_t i = 0; i < one.size(); ++i) one[i] += other[i];
  return one;
}

double root_mean_square(const std::vector<float>& one, const std::vector<float>& other) {
  double square = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double difference = static_cast<double>(one[i]) - other[i];
    square += difference * difference;
  }
  return std::sqrt(square / static_cast<double>(one.size()));
}

}  // namespace

TEST("Rounding is far below one update, does nothing twice, and does not add up") {
  auto model = noise(0.05, 1);
  const auto next = sum(model, noise(1e-4, 2));
  const ModelGrid grid(model, next, 1);
  for (std::uint64_t version = 3; version < 40; ++version) {
    model = sum(model, noise(1e-4, version));
    const auto published = grid.rounded(model);
    TEST_ASSERT_TRUE(root_mean_square(model, published) < 1e-4 / ModelGrid::kStepsPerUpdate / 3);
    TEST_ASSERT_TRUE(grid.rounded(published) == published);
  }
}

TEST("A step is fitted to one update, however many lie between the two models") {
  const auto model = noise(0.05, 1);
  const auto newest = sum(model, noise(1e-4 * 10, 2));  // a hundred updates in random directions
  const ModelGrid grid(model, newest, 100);
  TEST_ASSERT_TRUE(root_mean_square(newest, grid.rounded(newest)) < 1e-4 / ModelGrid::kStepsPerUpdate / 3);
}

TEST("What stood still gets the finest step, and what is too large for its step stays as it is") {
  const auto model = noise(0.05, 1);
  auto next = model;
  for (std::size_t i = 64; i < 128; ++i) next[i] += 1e-3F;
  for (std::size_t i = 128; i < kCount; ++i) next[i] += 1e-5F;
  const ModelGrid grid(model, next, 1);
  next[200] = 3e30F;
  TEST_ASSERT_TRUE(grid.step(1) > grid.step(2));
  TEST_ASSERT_EQUAL_FLOAT(grid.step(2), grid.step(0));
  TEST_ASSERT_EQUAL_FLOAT(3e30F, grid.rounded(next)[200]);
}

TEST("Where nothing moved, nothing is rounded") {
  const auto model = noise(0.05, 1);
  TEST_ASSERT_TRUE(ModelGrid(model, model, 1).rounded(noise(0.05, 2)) == noise(0.05, 2));
}
