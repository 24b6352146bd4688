#pragma once

#include <cstdint>
#include <vector>

#include "core/telemetry/history_question.h"
#include "gateway_server/history/history_points.h"

namespace aflguard::gateway {

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

}  // namespace aflguard::gateway
