#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/telemetry/wall_time.h"

namespace aflguard {

/// What [alerts] of a gateway sends: something needs attention, or needs it no longer.
struct FleetAlert {
  std::optional<WallTime> time{};
  std::string fleet{};
  std::string kind{};    ///< docs/operate.md lists them
  std::string device{};  ///< empty where none is meant
  bool over = false;
  std::string text{};

  friend bool operator==(const FleetAlert&, const FleetAlert&) = default;
};

/// One line of JSON, below 4 KB.
[[nodiscard]] std::string to_json(const FleetAlert& alert);

/// None when the text is something else.
[[nodiscard]] std::optional<FleetAlert> read_fleet_alert(std::string_view payload);

}  // namespace aflguard
