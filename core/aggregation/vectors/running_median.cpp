#include "core/aggregation/vectors/running_median.h"

#include <algorithm>

#include "core/base/check.h"

namespace aflguard {
namespace {

constexpr std::size_t kLongestBlock = 128;  // 2 KiB: a short move in memory

}  // namespace

std::size_t RunningMedian::block_of(const Entry& entry) const {
  const auto after = std::upper_bound(smallest_.begin(), smallest_.end(), entry);
  return after == smallest_.begin() ? 0 : static_cast<std::size_t>(after - smallest_.begin()) - 1;
}

void RunningMedian::insert(std::uint64_t key, double number) {
  const Entry entry{number, key};
  if (blocks_.empty()) {
    blocks_.push_back({entry});
    smallest_.push_back(entry);
    size_ = 1;
    return;
  }
  const std::size_t at = block_of(entry);
  Block& block = blocks_[at];
  const auto place = std::lower_bound(block.begin(), block.end(), entry);
  check(place == block.end() || *place != entry, "RunningMedian::insert of a pair that is there");
  block.insert(place, entry);
  smallest_[at] = block.front();
  ++size_;
  if (at < cursor_) ++before_cursor_;
  if (block.size() > kLongestBlock) split(at);
  follow();
}

void RunningMedian::erase(std::uint64_t key, double number) {
  const Entry entry{number, key};
  check(size_ > 0, "RunningMedian::erase from nothing");
  const std::size_t at = block_of(entry);
  Block& block = blocks_[at];
  const auto place = std::lower_bound(block.begin(), block.end(), entry);
  check(place != block.end() && *place == entry, "RunningMedian::erase of a pair that is not there");
  block.erase(place);
  --size_;
  if (at < cursor_) --before_cursor_;
  if (block.empty()) {
    remove_empty(at);
  } else {
    smallest_[at] = block.front();
  }
  follow();
}

void RunningMedian::replace(std::uint64_t key, double old_number, double new_number) {
  erase(key, old_number);
  insert(key, new_number);
}

double RunningMedian::median() const {
  check(size_ > 0, "median of nothing");
  const std::size_t within = (size_ - 1) / 2 - before_cursor_;
  const Block& block = blocks_[cursor_];
  const double lower = block[within].first;
  if (size_ % 2 == 1) return lower;
  const double upper =
      within + 1 < block.size() ? block[within + 1].first : blocks_[cursor_ + 1].front().first;
  return lower == upper ? lower : lower / 2 + upper / 2;
}

void RunningMedian::split(std::size_t block) {
  const auto half = blocks_[block].begin() + static_cast<std::ptrdiff_t>(blocks_[block].size() / 2);
  Block upper(half, blocks_[block].end());
  blocks_[block].erase(half, blocks_[block].end());
  const auto next = static_cast<std::ptrdiff_t>(block) + 1;
  smallest_.insert(smallest_.begin() + next, upper.front());
  blocks_.insert(blocks_.begin() + next, std::move(upper));
  if (block < cursor_) ++cursor_;
}

void RunningMedian::remove_empty(std::size_t block) {
  const auto at = static_cast<std::ptrdiff_t>(block);
  blocks_.erase(blocks_.begin() + at);
  smallest_.erase(smallest_.begin() + at);
  if (block < cursor_) --cursor_;
  if (cursor_ == blocks_.size() && cursor_ > 0) {
    --cursor_;
    before_cursor_ -= blocks_[cursor_].size();
  }
}

void RunningMedian::follow() {
  if (size_ == 0) return;
  const std::size_t middle = (size_ - 1) / 2;
  while (middle < before_cursor_) {
    --cursor_;
    before_cursor_ -= blocks_[cursor_].size();
  }
  while (middle >= before_cursor_ + blocks_[cursor_].size()) {
    before_cursor_ += blocks_[cursor_].size();
    ++cursor_;
  }
}

}  // namespace aflguard
