#include "edge_client/training/training_schedule.h"

#include <algorithm>

namespace aflguard::edge {

bool TrainingSchedule::quiet(int minute) const {
  return std::any_of(settings_.quiet_hours.begin(), settings_.quiet_hours.end(),
                     [minute](const QuietHours& hours) { return hours.contain(minute); });
}

TrainingSchedule::Steady::duration TrainingSchedule::wait(Steady::time_point now, int minute) const {
  const auto rest = std::max(std::max(earliest_, paused_until_) - now, Steady::duration::zero());
  if (!quiet(minute)) return rest;
  return rest > Steady::duration::zero() ? std::min<Steady::duration>(rest, std::chrono::minutes(1))
                                         : std::chrono::minutes(1);
}

void TrainingSchedule::trained(Steady::time_point started, Steady::duration cpu) {
  last_ = {started, cpu};
  plan();
}

void TrainingSchedule::change(ScheduleSettings settings) {
  settings_ = std::move(settings);
  plan();
}

void TrainingSchedule::plan() {
  if (!last_) return;
  const auto by_load = std::chrono::duration<double>(last_->cpu) / settings_.cpu_limit;
  const auto apart = std::max(settings_.interval, std::chrono::duration<double>(by_load));
  earliest_ = last_->started + std::chrono::duration_cast<Steady::duration>(apart);
}

}  // namespace aflguard::edge
