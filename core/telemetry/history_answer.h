#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/telemetry/wall_time.h"

namespace aflguard {

/// One step of the fleet's past. Counts are of the step alone; what is not known is absent here and null in
/// the message.
struct FleetHistoryPoint {
  WallTime time{};                         ///< of its beginning
  std::optional<std::uint64_t> version{};  ///< at its end
  std::optional<std::uint64_t> accepted{};
  std::optional<std::uint64_t> rejected{};
  std::optional<std::uint64_t> refused{};
  std::optional<double> updates_per_second{};
  std::optional<double> mean_delay{};
  std::optional<double> test_error{};
};

/// ... and of one device's; the figures are means over the step.
struct DeviceHistoryPoint {
  WallTime time{};
  std::optional<std::uint64_t> accepted{};
  std::optional<std::uint64_t> rejected{};
  std::optional<double> distance{};
  std::optional<double> bound{};
  std::optional<double> delay{};
};

/// tell/<viewer>/history: one message of an answer.
struct HistoryAnswer {
  std::string id{};     ///< of the question
  bool last = false;    ///< no other message follows
  std::string error{};  ///< empty where there is none
  std::vector<FleetHistoryPoint> fleet{};
  std::vector<DeviceHistoryPoint> device{};
};

/// The messages that answer a question, each below 4 KB, in their order; the last says that it is.
[[nodiscard]] std::vector<std::string> history_answer(const std::string& id, std::int64_t step_ms,
                                                      std::span<const FleetHistoryPoint> points);
[[nodiscard]] std::vector<std::string> history_answer(const std::string& id, std::int64_t step_ms,
                                                      std::span<const DeviceHistoryPoint> points);
[[nodiscard]] std::string history_error(const std::string& id, const std::string& error);

/// None when the text is something else. Takes the fields in any order, and at most kMaxHistoryPoints points.
[[nodiscard]] std::optional<HistoryAnswer> read_history_answer(std::string_view payload);

}  // namespace aflguard
