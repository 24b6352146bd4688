#pragma once

#include "bench/peer/peer.h"

namespace aflguard::bench {

/// The baseline: receives what a gateway would receive, and only counts its bytes.
class Counter final {
 public:
  [[nodiscard]] static Result<Counter> create(const Identity& identity, LogSink& log);

  /// Waits for `updates` times `bytes_each` bytes; when each of these amounts was reached.
  [[nodiscard]] Result<Moments> count(std::size_t updates, std::size_t bytes_each);

 private:
  explicit Counter(std::unique_ptr<MqttBus> bus) : bus_(std::move(bus)) {}
  std::unique_ptr<MqttBus> bus_;
};

}  // namespace aflguard::bench
