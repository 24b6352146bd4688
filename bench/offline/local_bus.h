#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>

#include "core/transport/message_bus.h"

namespace aflguard::bench {

/// A bus without a network, on which a benchmark plays broker and devices for one gateway. Every publish is
/// acknowledged at once. Safe from several threads.
class LocalBus final : public MessageBus {
 public:
  [[nodiscard]] Status start() override;
  [[nodiscard]] Status subscribe(const std::string&) override { return {}; }
  void unsubscribe(const std::string&) override {}
  [[nodiscard]] Result<PublishId> publish(const Message& message) override;
  [[nodiscard]] std::optional<BusEvent> next_event(std::chrono::steady_clock::time_point deadline) override;
  void wake() override { push(BusWoken{}); }
  void stop() override;
  [[nodiscard]] BusCounters counters() const override;

  /// To the gateway.
  void deliver(Message message) { push(BusReceived{std::move(message)}); }
  /// False when the gateway has not published so many "verdict" messages, or "events", by the deadline.
  [[nodiscard]] bool wait_for(std::string_view kind, std::size_t count,
                              std::chrono::steady_clock::time_point deadline);

 private:
  void push(BusEvent event);
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<BusEvent> events_;
  std::map<std::string, std::size_t, std::less<>> published_;
  PublishId next_id_ = 1;
  std::uint64_t received_ = 0;
  bool stopped_ = false;
};

}  // namespace aflguard::bench
