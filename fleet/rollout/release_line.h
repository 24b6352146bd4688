#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/telemetry/device_status.h"
#include "core/telemetry/rollout_status.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "fleet/rollout/release_book.h"

namespace aflguard::fleet {

/// The operator's connection to the broker: what gateway and devices say of models, and orders to them.
class ReleaseLine final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Statuses = std::map<std::string, DeviceStatus>;

  /// Starts connecting.
  [[nodiscard]] static Result<ReleaseLine> open(std::unique_ptr<MessageBus> bus, const std::string& fleet);
  ReleaseLine(ReleaseLine&&) = default;
  ~ReleaseLine();

  /// Takes in what comes until then, or until `enough` says so.
  void listen(Time until, const std::function<bool()>& enough);
  /// What the gateway said last; none while it has said nothing.
  [[nodiscard]] const std::optional<RolloutStatus>& rollout() const { return rollout_; }
  [[nodiscard]] const Statuses& devices() const { return devices_; }
  /// Why there is no connection; empty while there is one.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  /// Publishes the package's pieces, one after the other, and then the order. kUnavailable when the broker
  /// does not take them in time; the same order can be sent again.
  [[nodiscard]] Status send(const PreparedRelease& release, std::chrono::seconds timeout,
                            const std::function<void(std::size_t, std::size_t)>& progress);

 private:
  ReleaseLine(std::unique_ptr<MessageBus> bus, FleetTopics topics)
      : bus_(std::move(bus)), topics_(std::move(topics)) {}
  void take(BusEvent event);
  [[nodiscard]] Status publish(const Message& message, Time deadline);

  std::unique_ptr<MessageBus> bus_;
  FleetTopics topics_;
  std::optional<RolloutStatus> rollout_;
  Statuses devices_;
  bool connected_ = false;
  std::string problem_ = "not connected yet";
  PublishId published_ = 0;
  PublishId failed_ = 0;
};

}  // namespace aflguard::fleet
