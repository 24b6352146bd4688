#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "core/envelope/refusal.h"

namespace aflguard {

/// Counts every refused message by reason and logs it, but no more than one line per sender and reason in a
/// while, and not many of all: who floods the gateway does not flood its log, nor does a whole fleet that was
/// given the wrong model. Safe from several threads.
class RefusalLedger final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RefusalLedger(LogSink& log) : log_(log) {}

  /// `sender` is the name in the topic: a claim.
  void note(std::string_view sender, const Refusal& refusal, Time now);

  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;
  [[nodiscard]] std::uint64_t total() const;
  /// The lines logged since the last call, for the topic `events`; a bounded number.
  [[nodiscard]] std::vector<std::string> take_lines();

 private:
  struct Quiet {
    Time until{};
    std::uint64_t held_back = 0;
  };
  [[nodiscard]] bool may_speak(Time now);
  LogSink& log_;
  mutable std::mutex mutex_;
  std::map<RefusalReason, std::uint64_t> counts_;
  std::map<std::pair<std::string, RefusalReason>, Quiet> quiet_;
  Quiet everybody_;  ///< how long the count of spoken lines holds, and what was held back meanwhile
  std::size_t spoken_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace aflguard
