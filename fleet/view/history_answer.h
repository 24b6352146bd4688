#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fleet/view/fleet_state.h"

namespace aflguard::view {

/// One message of an answer about history.
struct HistoryAnswer {
  std::string id;
  bool last = false;
  std::string error;  ///< empty where there is none
  /// Of a fleet: updates per second and test error, by time.
  std::vector<std::pair<WallTime, double>> rates;
  std::vector<std::pair<WallTime, double>> errors;
  /// Of a device: means over a step; `accepted` where most of the step's updates were.
  std::vector<JudgedDistance> distances;
};

/// None when it is something else. At most kMaxHistoryPoints of each.
[[nodiscard]] std::optional<HistoryAnswer> read_history_answer(std::string_view payload);

inline constexpr std::size_t kMaxHistoryPoints = 500;

/// A question as docs/topics.md has it; an empty `device` asks about the fleet.
[[nodiscard]] std::string history_question(const std::string& id, const std::string& device, WallTime from,
                                           WallTime to, std::size_t points);

}  // namespace aflguard::view
