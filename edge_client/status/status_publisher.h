#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/telemetry/device_status.h"
#include "core/transport/message_bus.h"

namespace aflguard::edge {

/// What needs attention, until it is over. The first one is what the status says.
enum class Alert : std::uint8_t {
  kSpool,
  kModel,
  kTraining,
  kCertificate,
  kRefused,
  kUnanswered,
  kExport,
  kSamples
};

struct StatusOptions {
  std::string device;
  std::string software;
  std::string topic;
  std::chrono::milliseconds interval{30'000};  ///< at most this long between two statuses
  std::optional<std::chrono::system_clock::time_point> certificate_until;
  std::string model = {};       ///< its name
  std::string model_hash = {};  ///< the first digits of it
};

/// What the device is doing when a status is due.
struct Activity {
  bool takes_part = false;  ///< it trains, sends, or waits for a verdict
  std::string waiting_for;  ///< why it does not train now
};

/// What a device reports about itself, and when: at its interval, sooner when figures have changed, within a
/// second when state or message have, and at once on a new connection. Borrows everything it is given; one
/// thread.
class StatusPublisher final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  StatusPublisher(StatusOptions options, MessageBus& bus, const Clock& clock, LogSink& log,
                  std::function<BoardReadings()> board);

  /// As it was published last, with the figures of now.
  [[nodiscard]] const DeviceStatus& status() const { return status_; }

  // Figures: the next status has them.
  /// Number of the model in use, and how far another one is; published within a second when it changes.
  void upgrading(std::optional<std::uint64_t> number, const std::string& progress);
  void model_taken(std::uint64_t version);
  void trained(double loss, std::uint64_t samples);
  /// What the board measured on its own samples.
  void measured(const LocalError& error);
  /// `sequence`: of the latest update.
  void sending(std::uint64_t sequence) { status_.sequence = sequence; }
  /// Asks the gateway what it takes beside format 1, or no longer.
  void offer_wanted(bool wanted);
  void judged(bool accepted, std::string reason, std::uint64_t delay);
  /// A message was not the gateway's, or broken. Counted always, logged at a bounded rate: a flood of them
  /// does not fill the disk.
  void refused(std::string_view reason, const std::string& message);

  /// The gateway has no room for an update now. Logged at a bounded rate.
  void asked_to_wait(const std::string& message);

  /// At most this long between two statuses from now on.
  void set_interval(std::chrono::milliseconds interval) { options_.interval = interval; }

  /// Logged when it is new.
  void raise(Alert alert, const std::string& text);
  void clear(Alert alert) { alerts_[static_cast<std::size_t>(alert)].clear(); }
  /// Raises kCertificate when the certificate has ended.
  void check_certificate();

  /// On a new connection the broker may hold the last will: the next status is due at once.
  void connected() { published_.known = false; }
  /// Publishes what is due; the time at which the next status is, if nothing changes. Only while connected.
  [[nodiscard]] Time publish_when_due(Time now, const Activity& activity);

  /// Publishes the state `disconnected`. Only while connected.
  void say_goodbye();
  /// The bus has finished that publish, well or not; others than the goodbye are ignored.
  void publish_ended(PublishId id);
  /// The broker has the goodbye, or there is no hope for it.
  [[nodiscard]] bool goodbye_said() const { return goodbye_ == 0; }

 private:
  static constexpr std::size_t kAlerts = 8;
  /// What the latest status said.
  struct Published {
    bool known = false;  ///< the broker was given it on this connection
    DeviceState state = DeviceState::kInit;
    std::string message;
    std::string upgrade;
    std::uint64_t figures = 0;  ///< how often figures had changed by then
    Time time{};
  };
  struct RefusalLines {
    std::uint64_t held_back = 0;  ///< refusals since the last line
    Time last{};
  };

  [[nodiscard]] DeviceState state(const Activity& activity) const;
  [[nodiscard]] std::string message(const Activity& activity) const;
  void publish(Time now, const Activity& activity);
  [[nodiscard]] Result<PublishId> send();

  StatusOptions options_;
  MessageBus& bus_;
  const Clock& clock_;
  LogSink& log_;
  std::function<BoardReadings()> board_;
  DeviceStatus status_;
  std::array<std::string, kAlerts> alerts_;
  std::uint64_t figures_ = 0;  ///< how often they have changed
  Published published_;
  RefusalLines refusal_lines_;
  RefusalLines wait_lines_;
  PublishId goodbye_ = 0;
};

}  // namespace aflguard::edge
