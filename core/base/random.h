#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace aflguard {

/// A seeded stream of random numbers (xoshiro256**), the same on every machine and compiler:
/// the standard library's distributions are not, so none of them is used.
class Random {
 public:
  /// Streams of one seed with different `stream` numbers are independent of each other.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  [[nodiscard]] std::uint64_t next();
  /// Uniform in [0, 1) with 53 random bits.
  [[nodiscard]] double uniform();
  [[nodiscard]] double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in {0, ..., bound - 1} without bias; bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Standard normal.
  [[nodiscard]] double normal();
  /// Fisher-Yates over the whole span.
  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }
  /// `count` different indices out of {0, ..., population - 1}, in random order; count <= population.
  [[nodiscard]] std::vector<std::size_t> sample_without_replacement(std::size_t population,
                                                                    std::size_t count);

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace aflguard
