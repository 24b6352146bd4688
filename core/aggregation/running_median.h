#pragma once

#include <cstdint>
#include <set>
#include <utility>

namespace aflguard {

/// The median of one number per key, while numbers come, change and go. Each operation is O(log n).
/// Numbers are not NaN; infinities are allowed. The caller remembers each key's number.
class RunningMedian final {
 public:
  void insert(std::uint64_t key, double number);
  /// The pair must be there.
  void erase(std::uint64_t key, double number);
  void replace(std::uint64_t key, double old_number, double new_number);

  [[nodiscard]] std::size_t size() const { return low_.size() + high_.size(); }
  /// The middle number, or the mean of the two middle ones; size() > 0.
  [[nodiscard]] double median() const;

 private:
  using Entry = std::pair<double, std::uint64_t>;
  void rebalance();

  std::set<Entry> low_;   ///< the smaller half; holds the middle one when size() is odd
  std::set<Entry> high_;  ///< the larger half
};

}  // namespace aflguard
