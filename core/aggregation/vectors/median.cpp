#include "core/aggregation/vectors/median.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace aflguard {
namespace {

constexpr std::size_t kSample = 64;
// How far the median may lie from the sample's: 2.5 standard deviations, so that one band in eighty misses
// it.
constexpr std::size_t kReach = 10;

constexpr std::size_t kFew = 24;

/// The number of rank `rank`, of a part that gets smaller around it. What goes where is decided without a
/// branch, here and below: a processor could not foresee it. Uses up `numbers`; `low` and `high` have room
/// for one number more.
double ranked(double* numbers, std::size_t count, std::size_t rank, double* low, double* high) {
  while (count > kFew) {
    std::array<double, 9> pick;
    for (std::size_t i = 0; i < pick.size(); ++i) pick[i] = numbers[i * (count - 1) / (pick.size() - 1)];
    std::nth_element(pick.begin(), pick.begin() + 4, pick.end());
    const double pivot = pick[4];
    std::size_t below = 0;
    std::size_t above = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double number = numbers[i];
      low[below] = number;
      high[above] = number;
      below += static_cast<std::size_t>(number < pivot);
      above += static_cast<std::size_t>(number > pivot);
    }
    if (rank < below) {
      std::swap(numbers, low);
      count = below;
    } else if (rank >= count - above) {
      rank -= count - above;
      std::swap(numbers, high);
      count = above;
    } else {
      return pivot;
    }
  }
  std::nth_element(numbers, numbers + rank, numbers + count);
  return numbers[rank];
}

/// The number before the one of rank `rank`, which is `middle`.
double before(std::span<const double> numbers, std::size_t rank, double middle) {
  std::size_t less = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (const double number : numbers) {
    less += static_cast<std::size_t>(number < middle);
    const double candidate = number < middle ? number : most;
    most = most > candidate ? most : candidate;
  }
  return less == rank ? most : middle;
}

/// The number of rank `rank`, or the mean of it and the one before. `spare` has room for three times as many
/// and two more.
double middle_of(std::span<const double> numbers, std::size_t rank, bool with_one_before, double* spare) {
  const std::size_t count = numbers.size();
  std::copy(numbers.begin(), numbers.end(), spare);
  const double middle = ranked(spare, count, rank, spare + count, spare + 2 * count + 1);
  return with_one_before ? before(numbers, rank, middle) / 2 + middle / 2 : middle;
}

struct Band {
  double low, high;
};

/// Two numbers of a sample, with the median most probably between them.
Band likely_band(std::span<const double> numbers) {
  std::array<double, kSample> sample;
  for (std::size_t i = 0; i < kSample; ++i) sample[i] = numbers[i * numbers.size() / kSample];
  const auto low = sample.begin() + kSample / 2 - kReach;
  const auto high = sample.begin() + kSample / 2 + kReach;
  std::nth_element(sample.begin(), low, sample.end());
  std::nth_element(low + 1, high, sample.end());
  return {*low, *high};
}

/// The median by looking closely at the numbers in the band alone; none when it is not among them.
std::optional<double> median_within(const Band& band, std::span<const double> numbers, double* spare) {
  double* const inside = spare;
  std::size_t below = 0;
  std::size_t count = 0;
  for (const double number : numbers) {
    inside[count] = number;
    below += static_cast<std::size_t>(number < band.low);
    count += static_cast<std::size_t>(number >= band.low) & static_cast<std::size_t>(number <= band.high);
  }
  const std::size_t rank = numbers.size() / 2;
  const bool even = numbers.size() % 2 == 0;
  if (rank < below + (even ? 1 : 0) || rank >= below + count) return std::nullopt;
  return middle_of({inside, count}, rank - below, even, spare + count);
}

}  // namespace

double median_of(std::span<const double> numbers, std::vector<double>& spare) {
  spare.resize(4 * numbers.size() + 3);
  if (numbers.size() > 2 * kSample) {
    if (const auto found = median_within(likely_band(numbers), numbers, spare.data())) return *found;
  }
  return middle_of(numbers, numbers.size() / 2, numbers.size() % 2 == 0, spare.data());
}

}  // namespace aflguard
