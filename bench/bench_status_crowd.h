#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "bench/bench_fleet.h"
#include "core/base/log.h"
#include "core/transport/topics.h"
#include "core/transport_mqtt/mqtt_bus.h"

namespace aflguard::bench {

/// What a device publishes the `turn`th time: time, state, version, counters, delay,
/// loss and message differ from the time before.
[[nodiscard]] std::string bench_status(const std::string& device, std::uint64_t turn);

/// Publishes on one connection what all devices of a fleet would publish, and receives what the gateway does
/// about them. Used by one thread, but for publish().
class StatusCrowd final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Connected when this returns. `fleet` has so many (pretended) devices. What `echoed` publishes comes
  /// back.
  [[nodiscard]] static Result<std::unique_ptr<StatusCrowd>> start(const BenchFleet& fleet,
                                                                  std::size_t devices,
                                                                  const std::string& echoed = {});
  ~StatusCrowd();
  StatusCrowd(const StatusCrowd&) = delete;
  StatusCrowd& operator=(const StatusCrowd&) = delete;

  /// Every device publishes once, until the gateway has published each one's summary. kUnavailable when it
  /// does not, or when `stop` says so.
  [[nodiscard]] Status introduce(const std::function<bool()>& stop);
  /// For `span`, every device publishes once per `interval` seconds, evenly spread; 0: none does.
  [[nodiscard]] Status pass(std::chrono::duration<double> span, double interval,
                            const std::function<bool()>& stop);
  /// One message in a device's name. From any thread.
  [[nodiscard]] Status publish(const std::string& device, const std::string& json);

  [[nodiscard]] std::uint64_t published() const { return next_; }
  /// Messages of the gateway about devices.
  [[nodiscard]] std::uint64_t received() const { return received_; }
  /// When a status of `echoed` last came back from the broker. From any thread.
  [[nodiscard]] Time echo() const { return Time(Time::duration(echo_)); }

 private:
  StatusCrowd(const FleetTopics& topics, std::size_t devices, std::string echo_topic)
      : topics_(topics), devices_(devices), echo_topic_(std::move(echo_topic)) {}
  [[nodiscard]] Status publish_next();
  void listen(Time deadline);
  void take(const BusEvent& event);

  class NoLog final : public LogSink {
   public:
    void write(LogLevel, std::string_view) override {}
  };

  NoLog log_;
  const FleetTopics topics_;
  const std::size_t devices_;
  const std::string echo_topic_;
  std::unique_ptr<MqttBus> bus_;
  std::uint64_t next_ = 0;
  std::uint64_t received_ = 0;
  std::set<std::string> known_;
  std::atomic<Time::rep> echo_{0};
};

}  // namespace aflguard::bench
