#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/telemetry/wall_time.h"

namespace aflguard {

/// events: something happened in the fleet.
struct FleetEvent {
  std::optional<WallTime> time{};
  std::string kind{};    ///< docs/topics.md lists them
  std::string device{};  ///< empty where none is meant
  std::string text{};
};

/// One line of JSON, below 4 KB.
[[nodiscard]] std::string to_json(const FleetEvent& event);

/// None when the text is something else. Texts are made harmless for a terminal.
[[nodiscard]] std::optional<FleetEvent> read_fleet_event(std::string_view payload);

}  // namespace aflguard
