#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "core/verdict/refusal.h"

namespace aflguard::gateway {

/// Counts every refused message by reason. Logs at most one line per sender and reason in a while, and few in
/// all: neither a flooding sender nor a whole fleet with the wrong model floods the log. Safe from several
/// threads.
class RefusalLog final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RefusalLog(LogSink& log) : log_(log) {}

  /// `sender` is the name in the topic: a claim. `messages`: how many of its messages this is about.
  void note(std::string_view sender, const Refusal& refusal, Time now, std::uint64_t messages = 1);

  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;
  [[nodiscard]] std::uint64_t total() const;
  /// A line that was logged.
  struct Line {
    std::string sender;
    std::string text;  ///< reason and message
  };
  /// Those since the last call, for the topic `events`; a bounded number.
  [[nodiscard]] std::vector<Line> take_lines();
  /// Senders of whom messages were refused since the last call, and how many of theirs have been so far.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> take_senders();

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
  Quiet everybody_;  ///< how long the count of logged lines holds, and what was held back meanwhile
  std::size_t spoken_ = 0;
  std::vector<Line> lines_;
  std::map<std::string, std::uint64_t, std::less<>> by_sender_;
  std::set<std::string, std::less<>> fresh_;  ///< senders since the last take_senders()
};

}  // namespace aflguard::gateway
