#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/aggregation/vectors/aligned_vector.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "core/base/random.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kSizes[] = {0, 1, 3, 4, 31, 32, 33, 100, 1000, 12345};

AlignedFloats numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  AlignedFloats out(count);
  for (float& v : out) v = static_cast<float>(random.normal());
  return out;
}

}  // namespace

TEST("Norms, distances and products agree with plain sums at every length") {
  for (const std::size_t n : kSizes) {
    const auto a = numbers(n, 1);
    const auto b = numbers(n, 2);
    long double norm = 0, distance = 0, dot = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double d = a[i] - b[i];  // rounded to float, as promised
      norm += static_cast<long double>(a[i]) * a[i];
      distance += static_cast<long double>(d) * d;
      dot += static_cast<long double>(a[i]) * b[i];
    }
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, static_cast<double>(norm), squared_norm(a));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, static_cast<double>(distance), squared_distance(a, b));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, static_cast<double>(dot), dot_and_norm(a, b).dot);
    TEST_ASSERT_TRUE(squared_norm(a) == dot_and_norm(a, b).squared_norm);
  }
}

TEST("A fused pass gives the same bits as its two parts") {
  for (const std::size_t n : {std::size_t{33}, std::size_t{1000}, std::size_t{(1 << 20) + 7}}) {
    const auto g = numbers(n, 3);
    const auto reference = numbers(n, 4);
    const auto theta = numbers(n, 5);
    AlignedFloats fused(n), normed(n), plain(n);
    TEST_ASSERT_TRUE(distance_and_step(g, reference, theta, 0.25F, fused) == squared_distance(g, reference));
    TEST_ASSERT_TRUE(norm_and_step(g, theta, 0.25F, normed) == squared_norm(g));
    take_step(theta, g, 0.25F, plain);
    TEST_ASSERT_TRUE(fused == plain);
    TEST_ASSERT_TRUE(normed == plain);
    TEST_ASSERT_EQUAL_FLOAT(theta[n - 1] - 0.25F * g[n - 1], fused[n - 1]);
  }
}

TEST("A sum does not depend on where its input lies in memory") {
  const auto a = numbers(1001, 6);
  for (std::size_t shift = 1; shift < 8; ++shift) {
    std::vector<float> moved(shift + a.size());
    std::copy(a.begin(), a.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
    TEST_ASSERT_TRUE(squared_norm(a) == squared_norm(std::span(moved).subspan(shift)));
  }
}

TEST("One NaN or infinity anywhere makes a sum not finite") {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (const std::size_t at : {0, 31, 32, 99}) {
      auto a = numbers(100, 7);
      const auto b = numbers(100, 8);
      AlignedFloats next(100);
      a[at] = bad;
      TEST_ASSERT_FALSE(std::isfinite(squared_norm(a)));
      TEST_ASSERT_FALSE(std::isfinite(squared_distance(a, b)));
      TEST_ASSERT_FALSE(std::isfinite(distance_and_step(a, b, b, 1, next)));
      TEST_ASSERT_FALSE(std::isfinite(norm_and_step(a, b, 1, next)));
      TEST_ASSERT_FALSE(std::isfinite(largest_magnitude(a)));
    }
  }
}

TEST("The largest floats do not overflow a sum of squares") {
  const AlignedFloats huge(1000, std::numeric_limits<float>::max());
  TEST_ASSERT_TRUE(std::isfinite(squared_norm(huge)));
  TEST_ASSERT_EQUAL_FLOAT(std::numeric_limits<float>::max(), largest_magnitude(huge));
}
