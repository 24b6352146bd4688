#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/telemetry/last_verdict.h"
#include "core/telemetry/states.h"
#include "core/telemetry/wall_time.h"

namespace aflguard {

/// What the board's own sensors say; what they do not say is absent.
struct BoardReadings {
  std::optional<double> temperature_c{};  ///< of the processor where it is named, else of the first sensor
  std::optional<std::uint64_t> memory_free_mb{};  ///< that programs can still have
};

/// up/<device>/status: what a device says about itself, for people and dashboards. Nothing decides on it;
/// `wants_offer` is a hint, answered with a message that says the same to all devices. What is not known is
/// absent, here and in the message.
struct DeviceStatus {
  DeviceState state = DeviceState::kInit;
  std::string device{};
  std::optional<WallTime> time{};
  std::string model{};  ///< name of the model it trains; empty: not said
  std::optional<std::uint64_t> model_number{};
  std::string model_hash{};                 ///< the first digits of it
  std::string upgrade{};                    ///< how far it is with another model; empty: nothing to do
  std::optional<std::uint64_t> version{};   ///< of the model it trains on
  std::optional<std::uint64_t> sequence{};  ///< of its latest update
  std::optional<LastVerdict> verdict{};
  std::optional<std::uint64_t> accepted{};  ///< since the start
  std::optional<std::uint64_t> rejected{};
  std::optional<std::uint64_t> refused{};  ///< messages that were not the gateway's, or broken
  std::optional<double> loss{};
  std::optional<std::uint64_t> samples{};  ///< in the latest update
  std::string software{};
  std::optional<double> rss_mb{};
  BoardReadings board{};
  std::optional<WallTime> certificate_until{};
  bool wants_offer = false;  ///< speaks format 2, and has not been told what its gateway takes
  std::string message{};
};

/// One line of JSON, below 4 KB.
[[nodiscard]] std::string to_json(const DeviceStatus& status);

/// What the broker shall say when the device has vanished: state `lost`, and who it was.
[[nodiscard]] DeviceStatus last_will(const std::string& device, const std::string& software);

/// None when the text is something else or its state has no known name. Figures of a wrong kind count as not
/// known; texts are made harmless for a terminal.
[[nodiscard]] std::optional<DeviceStatus> read_device_status(std::string_view payload);

/// What a gateway follows of a status. The message is as the device wrote it.
struct ReportedState {
  DeviceState state = DeviceState::kUnknown;
  std::string message;
  bool wants_offer = false;
};
/// The same reader for a crowd of devices that speak all the time: it does not build the rest of the status.
/// Takes no message of kMaxTelemetryBytes or more.
[[nodiscard]] std::optional<ReportedState> read_reported_state(std::string_view payload);

}  // namespace aflguard
