#include "gateway_server/history/history_plan.h"

namespace aflguard::gateway {

HistoryPlan plan_history(const HistoryQuestion& question, std::int64_t now_ms) {
  const std::int64_t span = question.to_ms - question.from_ms;
  const std::int64_t wanted = (span + question.points - 1) / question.points;
  HistoryPlan plan;
  while (plan.level + 1 < kHistoryLevels.size() &&
         (kHistoryLevels[plan.level + 1].step_ms <= wanted ||
          now_ms - question.from_ms > kHistoryLevels[plan.level].kept_ms)) {
    ++plan.level;
  }
  const std::int64_t step = kHistoryLevels[plan.level].step_ms;
  plan.begin_ms = step_begin(question.from_ms, step);
  // The beginning may lie before the wanted one, so the steps are counted from there.
  const std::int64_t whole = question.to_ms - plan.begin_ms;
  const std::int64_t least = (whole + question.points - 1) / question.points;
  plan.step_ms = (least + step - 1) / step * step;
  return plan;
}

}  // namespace aflguard::gateway
