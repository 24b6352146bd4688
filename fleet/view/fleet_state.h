#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/telemetry/device_status.h"
#include "core/telemetry/device_summary.h"
#include "core/telemetry/fleet_event.h"
#include "core/telemetry/gateway_metrics.h"
#include "core/telemetry/gateway_status.h"
#include "core/transport/topics.h"
#include "fleet/view/time_series.h"

namespace aflguard::view {

struct DevicePicture {
  /// The one that its status says; the gateway's summary counts where there is no status.
  DeviceState state = DeviceState::kUnknown;
  std::optional<DeviceStatus> status;
  std::optional<DeviceSummary> summary;

  /// By the gateway's count; by the device's own where the gateway says nothing.
  [[nodiscard]] std::optional<std::uint64_t> accepted() const;
  [[nodiscard]] std::optional<std::uint64_t> rejected() const;
  /// The running mean, or all of its life where there is none.
  [[nodiscard]] std::optional<double> rejected_share() const;
  /// Of the verdicts since the gateway's start; by the device's own count where the gateway says nothing.
  /// Counts that a restored store brings along raise no suspicion.
  [[nodiscard]] std::optional<double> recent_rejected_share() const;
  [[nodiscard]] std::optional<WallTime> last_seen() const;
};

struct GatewayPicture {
  GatewayStatus status;                ///< of an unknown state before it was heard
  GatewayMetrics metrics;              ///< empty before they were heard
  std::optional<WallTime> heard_at{};  ///< when the latest metrics came, by our clock
};

/// The past of one device, for its page.
struct DeviceHistory {
  std::string device;
  std::vector<JudgedDistance> points;
};

struct PictureLimits {
  std::size_t devices = 20'000;
  std::size_t events = 200;
  std::size_t series = 4096;
  std::size_t message_bytes = 64 << 10;
};

struct PictureCounters {
  std::uint64_t messages = 0;
  std::uint64_t ignored = 0;   ///< not ours, not JSON, or not what the topic promises
  std::uint64_t left_out = 0;  ///< of devices above the limit
};

/// A fleet as its topics describe it (docs/topics.md). A value that is fed with messages; it has no clock and
/// does no I/O. Messages are hostile until read: what is broken is counted and changes nothing, and what is
/// kept is bounded, whatever comes.
class FleetState final {
 public:
  /// kInvalidInput when `fleet` is not a name. `viewer` is who asks for history.
  [[nodiscard]] static Result<FleetState> create(std::string_view fleet, std::string_view viewer,
                                                 const PictureLimits& limits = {});

  /// One message of any topic. `now` is when it came.
  void take(std::string_view topic, std::string_view payload, WallTime now);

  [[nodiscard]] const std::string& fleet() const { return fleet_; }
  [[nodiscard]] const std::string& viewer() const { return viewer_; }
  [[nodiscard]] const GatewayPicture& gateway() const { return gateway_; }
  [[nodiscard]] const std::map<std::string, DevicePicture>& devices() const { return devices_; }
  [[nodiscard]] const std::deque<FleetEvent>& events() const { return events_; }  ///< oldest first
  /// How many there were ever; the oldest of them are gone.
  [[nodiscard]] std::uint64_t event_count() const { return event_count_; }
  [[nodiscard]] const TimeSeries& updates_per_second() const { return rate_; }
  [[nodiscard]] const TimeSeries& test_error() const { return error_; }
  [[nodiscard]] const std::optional<DeviceHistory>& device_history() const { return history_; }
  [[nodiscard]] const PictureCounters& counters() const { return counters_; }
  /// How many answers to questions about the fleet's history were told to their end.
  [[nodiscard]] std::uint64_t answers() const { return answers_; }

  /// A question about the fleet's history (docs/topics.md), to be published on ask/<viewer>/history.
  [[nodiscard]] std::string fleet_question(WallTime from, WallTime to, std::size_t points);
  /// ... and about one device. The answer to it replaces device_history().
  [[nodiscard]] std::string device_question(const std::string& device, WallTime from, WallTime to,
                                            std::size_t points);

 private:
  FleetState(std::string_view fleet, std::string_view viewer, const PictureLimits& limits)
      : fleet_(fleet), viewer_(viewer), limits_(limits), rate_(limits.series), error_(limits.series) {}
  [[nodiscard]] bool take_known(const Topic& topic, std::string_view payload, WallTime now);
  [[nodiscard]] bool take_device(const Topic& topic, std::string_view payload);
  [[nodiscard]] bool take_metrics(std::string_view payload, WallTime now);
  [[nodiscard]] bool take_answer(std::string_view payload);
  void forget(const Topic& topic);

  std::string fleet_;
  std::string viewer_;
  PictureLimits limits_;
  GatewayPicture gateway_;
  std::map<std::string, DevicePicture> devices_;
  std::deque<FleetEvent> events_;
  std::uint64_t event_count_ = 0;
  TimeSeries rate_;
  TimeSeries error_;
  std::optional<DeviceHistory> history_;
  std::string device_asked_;  ///< whose history is on its way
  std::uint64_t questions_ = 0;
  std::string device_question_id_;
  std::string fleet_question_id_;
  std::vector<std::pair<WallTime, double>> told_rates_;  ///< of an answer whose last part is not here yet
  std::vector<std::pair<WallTime, double>> told_errors_;
  std::uint64_t answers_ = 0;
  PictureCounters counters_;
};

}  // namespace aflguard::view
