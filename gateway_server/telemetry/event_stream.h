#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"

namespace aflguard::gateway {

/// The topic `events`: what happens, for subscribers of the moment. At most kPerSecond in any second; one
/// event `muted` reports how many were left out. One thread.
class EventStream final {
 public:
  static constexpr std::size_t kPerSecond = 20;
  /// False when it cannot go now.
  using Publish = std::function<bool(std::string json)>;

  /// `clock` is borrowed.
  EventStream(Publish publish, const Clock& clock) : publish_(std::move(publish)), clock_(clock) {}

  /// Without a device where `device` is empty.
  void tell(std::string_view kind, std::string_view device, std::string_view text);
  /// Tells what was left out as soon as there is room. Called now and then.
  void tell_muted();

 private:
  [[nodiscard]] bool send(std::string_view kind, std::string_view device, std::string_view text,
                          std::size_t most);

  const Publish publish_;
  const Clock& clock_;
  std::deque<std::chrono::steady_clock::time_point> sent_;  ///< of the last second
  std::uint64_t muted_ = 0;
  std::optional<std::chrono::steady_clock::time_point> muted_at_;
};

}  // namespace aflguard::gateway
