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

/// What a device says of itself when it speaks for the `turn`th time: time, state, version, counters, delay,
/// loss and message differ from the time before.
[[nodiscard]] std::string bench_status(const std::string& device, std::uint64_t turn);

/// Says on one connection what all devices of a fleet would say, and hears what the gateway tells of them.
/// Used by one thread, but for say().
class StatusCrowd final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Connected when this returns. `fleet` has so many (pretended) devices. What `echoed` says comes back.
  [[nodiscard]] static Result<std::unique_ptr<StatusCrowd>> start(const BenchFleet& fleet,
                                                                  std::size_t devices,
                                                                  const std::string& echoed = {});
  ~StatusCrowd();
  StatusCrowd(const StatusCrowd&) = delete;
  StatusCrowd& operator=(const StatusCrowd&) = delete;

  /// Everybody speaks once, until the gateway has told of each. kUnavailable when it does not, or when `stop`
  /// says so.
  [[nodiscard]] Status introduce(const std::function<bool()>& stop);
  /// For `span`, everybody speaks once per `interval` seconds, evenly spread; 0: nobody does.
  [[nodiscard]] Status pass(std::chrono::duration<double> span, double interval,
                            const std::function<bool()>& stop);
  /// One message in a device's name. From any thread.
  [[nodiscard]] Status say(const std::string& device, const std::string& json);

  [[nodiscard]] std::uint64_t said() const { return next_; }
  /// What the gateway told of devices.
  [[nodiscard]] std::uint64_t heard() const { return heard_; }
  /// When a status of `echoed` last came back from the broker. From any thread.
  [[nodiscard]] Time echo() const { return Time(Time::duration(echo_)); }

 private:
  StatusCrowd(const FleetTopics& topics, std::size_t devices, std::string echo_topic)
      : topics_(topics), devices_(devices), echo_topic_(std::move(echo_topic)) {}
  [[nodiscard]] Status speak();
  void listen(Time deadline);
  void hear(const BusEvent& event);

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
  std::uint64_t heard_ = 0;
  std::set<std::string> known_;
  std::atomic<Time::rep> echo_{0};
};

}  // namespace aflguard::bench
