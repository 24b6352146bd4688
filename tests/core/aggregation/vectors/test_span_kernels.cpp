#include <cmath>

#include "core/aggregation/vectors/span_kernels.h"
#include "core/base/random.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

std::vector<float> noise(std::size_t count, Random& random) {
  std::vector<float> out(count);
  for (float& v : out) v = static_cast<float>(random.normal());
  return out;
}

RowBundle bundle(std::size_t rows, std::size_t length, Random& random) {
  RowBundle out(rows, length);
  for (std::size_t row = 0; row < rows; ++row) out.set_row(row, noise(length, random));
  return out;
}

/// Coefficients of one step and the memory behind them.
struct Coefficients {
  Coefficients(std::size_t classes, std::size_t directions, Random& random)
      : project(noise(classes, random)),
        visible(noise(classes, random)),
        bend(noise(directions, random)),
        turn(noise(directions * directions, random)),
        enter(noise(directions, random)) {}
  [[nodiscard]] SpanStep step() const {
    return {visible.size(), bend.size(),  project.data(), visible.data(), bend.data(),
            turn.data(),    enter.data(), 0.7F,           0.01F};
  }
  std::vector<float> project, visible, bend, turn, enter;
};

}  // namespace

TEST("A bundle gives back the rows it was given, whatever their length") {
  Random random(1);
  for (const std::size_t length : {1, 15, 16, 17, 100}) {
    RowBundle rows(3, length);
    const auto middle = noise(length, random);
    rows.set_row(1, middle);
    std::vector<float> back(length, 5);
    rows.copy_row(1, back);
    TEST_ASSERT_TRUE(back == middle);
    rows.copy_row(2, back);
    TEST_ASSERT_TRUE(back == std::vector<float>(length));
  }
}

TEST("Products of all rows at once equal those of one row after the other") {
  Random random(2);
  for (const std::size_t length : {1, 16, 100, 1000}) {
    for (const std::size_t rows : {1, 2, 4, 5, 10, 13}) {
      const RowBundle a = bundle(rows, length, random);
      const RowBundle b = bundle(3, length, random);
      std::vector<float> g(length);
      b.copy_row(1, g);
      const auto found = products(a, g);
      const SmallMatrix crossed = cross_products(b, a);
      for (std::size_t row = 0; row < rows; ++row) {
        double expected = 0;
        for (std::size_t i = 0; i < length; ++i) {
          expected += static_cast<double>(a.at(row, i)) * static_cast<double>(g[i]);
        }
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected, found[row]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected, crossed(1, row));
      }
    }
  }
}

TEST("One pass steps the model and turns the directions as the formulas say") {
  Random random(3);
  for (const std::size_t length : {5, 16, 333}) {
    for (std::size_t directions = 0; directions <= kMostDirections; ++directions) {
      const RowBundle classes = bundle(3, length, random);
      const RowBundle before = bundle(directions, length, random);
      const auto g = noise(length, random);
      const auto theta = noise(length, random);
      const Coefficients with(3, directions, random);
      RowBundle after = before;
      std::vector<float> next(length);
      take_span_step(with.step(), g, classes, after, theta, next);
      for (std::size_t i = 0; i < length; ++i) {
        double o = g[i];
        double move = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          o -= static_cast<double>(with.project[c]) * static_cast<double>(classes.at(c, i));
          move += static_cast<double>(with.visible[c]) * static_cast<double>(classes.at(c, i));
        }
        move += static_cast<double>(0.7F) * o;
        for (std::size_t k = 0; k < directions; ++k) {
          move += static_cast<double>(with.bend[k]) * static_cast<double>(before.at(k, i));
          double turned = static_cast<double>(with.enter[k]) * o;
          for (std::size_t j = 0; j < directions; ++j) {
            turned +=
                static_cast<double>(with.turn[k * directions + j]) * static_cast<double>(before.at(j, i));
          }
          TEST_ASSERT_FLOAT_WITHIN(1e-4F, static_cast<float>(turned), after.at(k, i));
        }
        TEST_ASSERT_FLOAT_WITHIN(1e-4F, static_cast<float>(static_cast<double>(theta[i]) - 0.01 * move),
                                 next[i]);
      }
    }
  }
}

TEST("Every instruction set gives the same bits in SpanGuard's passes") {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") == 0) TEST_IGNORE_MESSAGE("this processor has no AVX2");
  Random random(4);
  constexpr std::size_t kLength = 1003;
  const RowBundle classes = bundle(10, kLength, random);
  RowBundle one = bundle(5, kLength, random);
  RowBundle two = one;
  const auto g = noise(kLength, random);
  const auto theta = noise(kLength, random);
  std::vector<double> a(50), b(50);
  kAvx2SpanPasses.products(classes.data(), 10, g.data(), kLength, a.data());
  kBaselineSpanPasses.products(classes.data(), 10, g.data(), kLength, b.data());
  TEST_ASSERT_TRUE(a == b);
  kAvx2SpanPasses.cross(one.data(), 5, classes.data(), 10, one.turns(), a.data());
  kBaselineSpanPasses.cross(one.data(), 5, classes.data(), 10, one.turns(), b.data());
  TEST_ASSERT_TRUE(a == b);
  std::vector<float> next_one(kLength), next_two(kLength);
  const Coefficients with(10, 5, random);
  kAvx2SpanPasses.step(with.step(), g.data(), classes.data(), one.data(), theta.data(), next_one.data(),
                       kLength);
  kBaselineSpanPasses.step(with.step(), g.data(), classes.data(), two.data(), theta.data(), next_two.data(),
                           kLength);
  TEST_ASSERT_TRUE(next_one == next_two);
  TEST_ASSERT_TRUE(one == two);
#else
  TEST_IGNORE_MESSAGE("this architecture has one instruction set");
#endif
}
