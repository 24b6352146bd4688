#pragma once

#include <chrono>
#include <cstdint>

#include "firmware_sim/local_fleet/fleet_run.h"

namespace aflguard::cli {

/// The fleet learning, on standard error: a line that redraws itself on a terminal, one every few seconds
/// otherwise.
class DemoView final {
 public:
  explicit DemoView(std::uint64_t updates);
  ~DemoView();
  DemoView(const DemoView&) = delete;
  DemoView& operator=(const DemoView&) = delete;

  void show(const sim::FleetRunState& state);
  /// Ends the line.
  void finish();

 private:
  void draw(const sim::FleetRunState& state);
  std::uint64_t total_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace aflguard::cli
