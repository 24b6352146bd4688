#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "firmware_sim/local_fleet/client_fleet.h"
#include "gateway_server/store/store_reader.h"

namespace aflguard::cli {

/// Verdicts of one kind of client.
struct Tally {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
};

/// A fleet's progress, by what its clients are. The gateway does not know; the demo does.
struct DemoState {
  std::uint64_t updates = 0;
  std::uint64_t version = 0;
  Tally honest;
  Tally malicious;
  std::map<std::string, std::uint64_t> refused;  ///< messages that no guard saw, by reason
  std::optional<double> test_error;
  double seconds = 0;             ///< since the first client started
  double updates_per_second = 0;  ///< over the last seconds

  [[nodiscard]] static DemoState from(const gateway::FleetProgress& progress,
                                      const std::vector<sim::FleetClient>& devices);
};

/// The fleet learning, on standard error: a line that redraws itself on a terminal, one every few seconds
/// otherwise.
class DemoView final {
 public:
  explicit DemoView(std::uint64_t updates);
  ~DemoView();
  DemoView(const DemoView&) = delete;
  DemoView& operator=(const DemoView&) = delete;

  void show(DemoState state);
  /// Ends the line.
  void finish();

 private:
  void draw(const DemoState& state);
  std::uint64_t total_;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace aflguard::cli
