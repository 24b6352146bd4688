#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/random.h"
#include "core/compression/compression.h"
#include "core/encoding/model_difference.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

std::vector<float> model_of(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.normal() * 0.05);
  return numbers;
}

std::vector<float> moved(std::vector<float> model, double by, std::uint64_t seed) {
  Random random(seed);
  for (float& number : model) number += static_cast<float>(random.normal() * by);
  return model;
}

bool same_bits(const std::vector<float>& one, const std::vector<float>& other) {
  return one.size() == other.size() && std::memcmp(one.data(), other.data(), one.size() * sizeof(float)) == 0;
}

}  // namespace

TEST("A difference makes the same bits again, and two near models differ in few bytes") {
  const auto base = model_of(10'000, 1);
  for (const double by : {0.0, 1e-7, 1e-4, 0.1, 100.0}) {
    const auto model = moved(base, by, 2);
    const auto difference = difference_of(base, model);
    ASSERT_OK(difference);
    const auto back = apply_difference(difference->kind, difference->bytes, base);
    ASSERT_OK(back);
    TEST_ASSERT_TRUE(same_bits(model, *back));
    if (by <= 1e-7) TEST_ASSERT_TRUE(difference->bytes.size() < 10'000 * 4 * 6 / 10);
  }
}

TEST("Signs, zeros of both kinds, the smallest and the largest numbers come back too") {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  const std::vector<float> numbers = {0.0F, -0.0F, 1.0F, -1.0F, kMost, -kMost, kLeast, -kLeast};
  for (const float from : numbers) {
    const std::vector<float> base(numbers.size(), from);
    const auto difference = difference_of(base, numbers);
    ASSERT_OK(difference);
    const auto back = apply_difference(difference->kind, difference->bytes, base);
    ASSERT_OK(back);
    TEST_ASSERT_TRUE(same_bits(numbers, *back));
  }
}

TEST("A difference for a model of another length is refused before anything is allocated, and so is a bomb") {
  const auto difference = difference_of(model_of(1000, 1), model_of(1000, 2)).value();
  for (const std::size_t count : {1, 900, 1100}) {
    ASSERT_CONTAINS(message_of(apply_difference(difference.kind, difference.bytes, model_of(count, 1))),
                    "would become 4016 bytes");
  }
  const Bytes bomb = compress(Bytes(std::size_t{64} << 20)).value();
  ASSERT_CONTAINS(message_of(apply_difference(difference.kind, bomb, model_of(1000, 1))),
                  "would become 67108864 bytes");
}

TEST("To another base the same difference makes another model") {
  const auto base = model_of(1000, 1);
  const auto model = moved(base, 1e-3, 2);
  const auto difference = difference_of(base, model).value();
  const auto other = apply_difference(difference.kind, difference.bytes, moved(base, 1e-5, 3));
  ASSERT_OK(other);
  TEST_ASSERT_FALSE(same_bits(model, *other));
}

TEST("Whatever one byte becomes, the result has the length of the base, or there is none") {
  const auto base = model_of(100, 1);
  const auto difference = difference_of(base, moved(base, 1e-4, 2)).value();
  for (std::size_t i = 0; i < difference.bytes.size(); ++i) {
    for (const int flip : {1, 0x80, 0xff}) {
      Bytes changed = difference.bytes;
      changed[i] ^= static_cast<std::byte>(flip);
      const auto back = apply_difference(difference.kind, changed, base);
      if (back.ok()) TEST_ASSERT_EQUAL_size_t(100, back->size());
    }
  }
}

TEST("On a grid a difference takes a third of the bytes, and to a base off it the same numbers come back") {
  const auto older = model_of(6400, 1);
  const auto base = moved(older, 1e-4, 2);
  const auto model = moved(base, 3e-4, 3);
  const ModelGrid grid(older, base, 1);
  const auto exact = difference_of(base, model, &grid).value();
  const auto back = apply_difference(exact.kind, exact.bytes, base);
  ASSERT_OK(back);
  TEST_ASSERT_TRUE(same_bits(model, *back));
  const auto from = grid.rounded(base);
  const auto to = grid.rounded(model);
  const auto rounded = difference_of(from, to, &grid).value();
  const auto again = apply_difference(rounded.kind, rounded.bytes, from);
  ASSERT_OK(again);
  TEST_ASSERT_TRUE(same_bits(to, *again));
  TEST_ASSERT_TRUE(3 * rounded.bytes.size() < exact.bytes.size());
  TEST_ASSERT_TRUE(rounded.bytes.size() < 6400 * 4 / 4);
  // Half of the model on the grid: each block is written as it can be.
  auto mixed = to;
  std::copy(model.begin() + 3200, model.end(), mixed.begin() + 3200);
  const auto half = difference_of(from, mixed, &grid).value();
  TEST_ASSERT_TRUE(same_bits(mixed, apply_difference(half.kind, half.bytes, from).value()));
}

TEST("A base that is not the right one gives a finite answer or a wrong one, never a crash") {
  const auto older = model_of(640, 1);
  const auto base = moved(older, 1e-4, 2);
  const ModelGrid grid(older, base, 1);
  const auto rounded = difference_of(grid.rounded(older), grid.rounded(base), &grid).value();
  for (const float strange : {3.4e38F, -3.4e38F, 1e-45F}) {
    const std::vector<float> other(640, strange);
    TEST_ASSERT_EQUAL_size_t(640, apply_difference(rounded.kind, rounded.bytes, other).value().size());
  }
}
