#include "core/aggregation/running_median.h"

#include "core/base/check.h"

namespace aflguard {

void RunningMedian::insert(std::uint64_t key, double number) {
  const Entry entry{number, key};
  const bool belongs_low = low_.empty() || entry < *low_.rbegin();
  const bool fresh = (belongs_low ? low_ : high_).insert(entry).second;
  check(fresh, "RunningMedian::insert of a pair that is there");
  rebalance();
}

void RunningMedian::erase(std::uint64_t key, double number) {
  const Entry entry{number, key};
  check(low_.erase(entry) + high_.erase(entry) == 1, "RunningMedian::erase of a pair that is not there");
  rebalance();
}

void RunningMedian::replace(std::uint64_t key, double old_number, double new_number) {
  erase(key, old_number);
  insert(key, new_number);
}

double RunningMedian::median() const {
  check(size() > 0, "median of nothing");
  const double lower = low_.rbegin()->first;
  if (low_.size() > high_.size()) return lower;
  const double upper = high_.begin()->first;
  return lower == upper ? lower : lower / 2 + upper / 2;
}

void RunningMedian::rebalance() {
  while (low_.size() > high_.size() + 1) high_.insert(low_.extract(std::prev(low_.end())));
  while (low_.size() < high_.size()) low_.insert(high_.extract(high_.begin()));
}

}  // namespace aflguard
