#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "edge_client/training/quiet_hours.h"

namespace aflguard::edge {

struct ScheduleSettings {
  std::chrono::duration<double> interval{0};  ///< at least this long between the starts of two trainings
  std::vector<QuietHours> quiet_hours = {};   ///< no training starts in there
  double cpu_limit = 1;                       ///< on average at most this share of one core; 2 is two cores
};

/// When the next training may start. A value machine: times go in, waits come out.
class TrainingSchedule final {
 public:
  using Steady = std::chrono::steady_clock;

  explicit TrainingSchedule(ScheduleSettings settings) : settings_(std::move(settings)) {}

  /// How long to wait from now on; zero: start. In quiet hours a minute at most, because the wall clock may
  /// be set meanwhile. `minute`: local time, after midnight.
  [[nodiscard]] Steady::duration wait(Steady::time_point now, int minute) const;
  [[nodiscard]] bool quiet(int minute) const;

  /// A training that began at `started` has used `cpu` of processor time.
  void trained(Steady::time_point started, Steady::duration cpu);

  /// The gateway wants nothing before.
  void pause_until(Steady::time_point when) { paused_until_ = when; }
  [[nodiscard]] bool paused(Steady::time_point now) const { return now < paused_until_; }
  /// Other settings from now on; they also decide when the training after the last one may start.
  void change(ScheduleSettings settings);

 private:
  void plan();

  ScheduleSettings settings_;
  struct Training {
    Steady::time_point started{};
    Steady::duration cpu{};
  };
  std::optional<Training> last_;
  Steady::time_point earliest_{};
  Steady::time_point paused_until_{};
};

}  // namespace aflguard::edge
