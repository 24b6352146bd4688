#pragma once

#include <cstdint>

namespace aflguard {

/// Which sequence numbers of one device have been judged: the highest, and a bit for each of the 64 numbers
/// that end with it. A plain value, stored with the verdicts so that it survives with them.
class ReplayWindow final {
 public:
  static constexpr std::uint64_t kWidth = 64;

  enum class Standing : std::uint8_t {
    kNew,     ///< never judged: judge it
    kJudged,  ///< judged before: send the stored verdict again, apply nothing
    kTooOld,  ///< below the window: unknown whether it was judged, so it is refused
  };

  ReplayWindow() = default;
  /// Restores what highest() and judged_bits() gave.
  ReplayWindow(std::uint64_t highest, std::uint64_t judged_bits) : highest_(highest), bits_(judged_bits) {}

  /// `sequence` is at least 1.
  [[nodiscard]] Standing standing(std::uint64_t sequence) const;
  /// Remembers `sequence` as judged; it must be new.
  void record(std::uint64_t sequence);

  [[nodiscard]] std::uint64_t highest() const { return highest_; }
  /// Bit i stands for highest() - i.
  [[nodiscard]] std::uint64_t judged_bits() const { return bits_; }

  friend bool operator==(const ReplayWindow&, const ReplayWindow&) = default;

 private:
  std::uint64_t highest_ = 0;
  std::uint64_t bits_ = 0;
};

}  // namespace aflguard
