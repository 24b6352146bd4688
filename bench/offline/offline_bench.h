#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/offline/day_run.h"
#include "bench/offline/scale_run.h"

namespace aflguard::bench {

/// One figure of a benchmark, with another one that it is to be compared with.
struct OfflineFigure {
  std::string name;
  double value = 0;
  std::string unit;
  std::string baseline_name = {};  ///< empty: none
  double baseline = 0;
};

struct BenchScaleOptions {
  std::vector<std::size_t> devices = {1000, 10'000, 100'000, 1'000'000};
  ScaleOptions each;
  std::function<bool()> stop;  ///< polled
};

/// What a gateway costs by the number of devices in its book; the smallest fleet is the baseline.
[[nodiscard]] Result<std::vector<OfflineFigure>> bench_scale(const BenchScaleOptions& options,
                                                             Progress& progress);

struct BenchDayOptions {
  std::vector<std::size_t> devices = {10'000, 100'000, 1'000'000};
  DayOptions each;  ///< but its devices
};

/// A slice of a day for each size of the fleet, and what hardware such a fleet needs.
[[nodiscard]] Result<std::vector<OfflineFigure>> bench_day(const BenchDayOptions& options,
                                                           Progress& progress);

}  // namespace aflguard::bench
