#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace aflguard {

/// The median of one number per key, while numbers come, change and go. Numbers are not NaN; infinities are
/// allowed. The caller remembers each key's number.
///
/// Sorted entries in blocks of bounded length, found by binary search; a cursor stays on the block that holds
/// the median. An operation costs O(log n) comparisons and touches one block, which keeps it quick with
/// millions of keys: a tree would miss the cache at every level.
class RunningMedian final {
 public:
  void insert(std::uint64_t key, double number);
  /// The pair must be there.
  void erase(std::uint64_t key, double number);
  void replace(std::uint64_t key, double old_number, double new_number);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The middle number, or the mean of the two middle ones; size() > 0.
  [[nodiscard]] double median() const;

 private:
  using Entry = std::pair<double, std::uint64_t>;
  using Block = std::vector<Entry>;

  /// The block that holds `entry` or would.
  [[nodiscard]] std::size_t block_of(const Entry& entry) const;
  void split(std::size_t block);
  void remove_empty(std::size_t block);
  /// Moves the cursor to the block of the lower middle entry; at most a few steps after each operation.
  void follow();

  std::vector<Block> blocks_;    ///< none is empty
  std::vector<Entry> smallest_;  ///< first entry of each block, side by side for the search
  std::size_t size_ = 0;
  std::size_t cursor_ = 0;         ///< block of entry number (size - 1) / 2
  std::size_t before_cursor_ = 0;  ///< entries in the blocks before it
};

}  // namespace aflguard
