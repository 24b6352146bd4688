#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "core/base/result.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "fleet/folder/viewer_identity.h"
#include "fleet/view/fleet_state.h"

namespace aflguard::view {

/// Makes a viewer's connection to the broker. Programs bring their own, so that watching names no MQTT
/// library.
using BusFactory =
    std::function<Result<std::unique_ptr<MessageBus>>(const fleet::ViewerIdentity& identity, LogSink& log)>;

/// A picture of a fleet that is kept up to date from the broker, with one viewer's identity.
class FleetWatch final {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// How much of the fleet's past is asked for.
  static constexpr std::chrono::minutes kFleetSpan{30};

  /// Starts connecting. kNotFound when a file of the identity is missing.
  [[nodiscard]] static Result<std::unique_ptr<FleetWatch>> start(const fleet::ViewerIdentity& identity,
                                                                 BusFactory make_bus);
  ~FleetWatch();
  FleetWatch(const FleetWatch&) = delete;
  FleetWatch& operator=(const FleetWatch&) = delete;

  /// Takes in everything that has come; when nothing has, waits for something until `deadline`.
  void listen(Deadline deadline);

  [[nodiscard]] const FleetState& picture() const { return picture_; }
  [[nodiscard]] bool connected() const { return connected_; }
  /// Connected at least once.
  [[nodiscard]] bool was_connected() const { return was_connected_; }
  /// Why there is no connection; empty while there is one or the first attempt runs.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Attempts that failed since the last connection.
  [[nodiscard]] std::size_t failures() const { return failures_; }
  /// Another client has taken the identity: this one has stopped, and take_back() starts it again. Brokers
  /// that do not say so are found out by three connections in a minute that end at once.
  [[nodiscard]] bool taken_over() const { return taken_over_; }
  [[nodiscard]] Status take_back();
  /// When the broker last sent something that it had kept for us.
  [[nodiscard]] Deadline last_retained() const { return last_retained_; }
  [[nodiscard]] BusCounters counters() const { return bus_->counters(); }

  /// Asks the gateway for the past of the fleet, or of one device; the answer comes into the picture, if any.
  void ask_fleet();
  void ask_device(const std::string& device);

 private:
  FleetWatch(fleet::ViewerIdentity identity, BusFactory make_bus, FleetTopics topics, FleetState picture);
  [[nodiscard]] Status connect();
  void take(const BusEvent& event);
  void publish(const std::string& question);
  [[nodiscard]] bool pushed_out();

  class NoLog final : public LogSink {
   public:
    void write(LogLevel, std::string_view) override {}
  };
  NoLog log_;
  fleet::ViewerIdentity identity_;
  BusFactory make_bus_;
  FleetTopics topics_;
  FleetState picture_;
  std::unique_ptr<MessageBus> bus_;
  bool connected_ = false;
  bool was_connected_ = false;
  bool taken_over_ = false;
  std::deque<Deadline> cuts_;  ///< when the broker ended connections that stood
  std::size_t failures_ = 0;
  std::string problem_;
  Deadline last_retained_{};
};

}  // namespace aflguard::view
