#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "gateway_server/history/history_points.h"

namespace aflguard::gateway {

/// A viewer's question on ask/<viewer>/history (docs/topics.md).
struct HistoryQuestion {
  std::string id;
  std::string device;  ///< empty: the whole fleet
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;  ///< above from_ms
  std::int64_t points = 0;
};

inline constexpr std::size_t kMaxQuestionBytes = 1024;
inline constexpr std::int64_t kMaxHistoryPoints = 500;

/// What was read of a question. `id` is what the answer names, also when the rest is wrong.
struct ReadQuestion {
  std::string id;
  Result<HistoryQuestion> question;
};
/// kInvalidInput that names the field, its value's limit and what to do.
[[nodiscard]] ReadQuestion read_history_question(std::span<const std::byte> payload);

/// How a question is answered: which level is read, and how many of its steps make one point.
struct HistoryPlan {
  std::size_t level = 0;
  std::int64_t begin_ms = 0;  ///< of the first point
  std::int64_t step_ms = 0;   ///< of a point; a multiple of the level's
};
/// The finest that has no more than the wanted points and is still kept.
[[nodiscard]] HistoryPlan plan_history(const HistoryQuestion& question, std::int64_t now_ms);

/// Points of a level as points of the plan's longer steps. Empty steps stay away.
template <typename Point>
std::vector<Point> gather(const std::vector<Point>& fine, const HistoryPlan& plan) {
  std::vector<Point> coarse;
  for (Point point : fine) {
    point.time_ms -= (point.time_ms - plan.begin_ms) % plan.step_ms;
    if (!coarse.empty() && coarse.back().time_ms == point.time_ms) {
      coarse.back().add(point);
    } else {
      coarse.push_back(point);
    }
  }
  return coarse;
}

/// The answer's messages, each below 4 KB; the last says so.
[[nodiscard]] std::vector<std::string> fleet_answer(const std::string& id, std::int64_t step_ms,
                                                    std::span<const FleetPoint> points);
[[nodiscard]] std::vector<std::string> device_answer(const std::string& id, std::int64_t step_ms,
                                                     std::span<const DevicePoint> points);
[[nodiscard]] std::string history_error(const std::string& id, const std::string& error);

}  // namespace aflguard::gateway
