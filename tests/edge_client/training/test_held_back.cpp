#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/random.h"
#include "edge_client/training/held_back.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;

namespace {

Dataset random_table(std::size_t rows, std::size_t width, std::uint64_t seed) {
  Random random(seed);
  Dataset data;
  data.sample_shape = {width};
  data.classes = 3;
  std::vector<float> features(rows * width);
  for (float& feature : features) feature = static_cast<float>(random.uniform());
  data.features = features;
  for (std::size_t i = 0; i < rows; ++i) data.labels.push_back(static_cast<std::int64_t>(i % 3));
  return data;
}

std::size_t count_held(const HeldBack& held_back, const Dataset& data) {
  std::size_t held = 0;
  for (std::size_t i = 0; i < data.size(); ++i) held += held_back.holds(data, i) ? 1 : 0;
  return held;
}

}  // namespace

TEST("The share that is wanted is held back, of floats, pixels and values") {
  for (const double share : {0.02, 0.1, 0.5}) {
    const HeldBack held_back(share);
    constexpr std::size_t kRows = 20'000;
    const double margin = 5 * std::sqrt(kRows * share * (1 - share));
    Dataset data = random_table(kRows, 3, 1);
    TEST_ASSERT_DOUBLE_WITHIN(margin, kRows * share, static_cast<double>(count_held(held_back, data)));
    std::vector<std::uint8_t> pixels(3 * kRows);
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 131 >> 3);
    for (std::size_t i = 0; i < kRows; ++i) pixels[3 * i] = static_cast<std::uint8_t>(i);
    for (std::size_t i = 0; i < kRows; ++i) pixels[3 * i + 1] = static_cast<std::uint8_t>(i >> 8);
    data.features = pixels;
    TEST_ASSERT_DOUBLE_WITHIN(margin, kRows * share, static_cast<double>(count_held(held_back, data)));
    Dataset values;
    values.sample_shape = {1};
    values.features = std::vector<float>(kRows, 1.0F);
    for (std::size_t i = 0; i < kRows; ++i) values.values.push_back(static_cast<float>(i));
    TEST_ASSERT_DOUBLE_WITHIN(margin, kRows * share, static_cast<double>(count_held(held_back, values)));
  }
}

TEST("A sample stays on its side wherever it stands, and equal samples are on one side") {
  const HeldBack held_back(0.3);
  const Dataset data = random_table(500, 7, 2);
  std::vector<std::size_t> order(data.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::reverse(order.begin(), order.end());
  order.insert(order.end(), {5, 5, 9});
  const Dataset moved = data.select(order);
  for (std::size_t i = 0; i < order.size(); ++i) {
    TEST_ASSERT_TRUE(held_back.holds(moved, i) == held_back.holds(data, order[i]));
  }
}

TEST("The newest ones come first, and no more than wanted; without a share none is held back") {
  const HeldBack held_back(0.3);
  const Dataset data = random_table(500, 7, 2);
  const auto all = held_back.newest(data, 1000);
  TEST_ASSERT_EQUAL_size_t(count_held(held_back, data), all.size());
  TEST_ASSERT_TRUE(std::is_sorted(all.rbegin(), all.rend()));
  const auto few = held_back.newest(data, 10);
  TEST_ASSERT_TRUE(std::equal(few.begin(), few.end(), all.begin(), all.begin() + 10));
  TEST_ASSERT_TRUE(HeldBack().none() && HeldBack().newest(data, 10).empty());
}
