#include "core/envelope/replay_window.h"

#include "core/base/check.h"

namespace aflguard {

ReplayWindow::Standing ReplayWindow::standing(std::uint64_t sequence) const {
  if (sequence > highest_) return Standing::kNew;
  const std::uint64_t age = highest_ - sequence;
  if (sequence == 0 || age >= kWidth) return Standing::kTooOld;
  return (bits_ >> age) & 1 ? Standing::kJudged : Standing::kNew;
}

void ReplayWindow::record(std::uint64_t sequence) {
  check(standing(sequence) == Standing::kNew, "a sequence number is judged once");
  if (sequence > highest_) {
    const std::uint64_t step = sequence - highest_;
    bits_ = step < kWidth ? bits_ << step : 0;
    highest_ = sequence;
  }
  bits_ |= std::uint64_t{1} << (highest_ - sequence);
}

}  // namespace aflguard
