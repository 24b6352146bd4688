#pragma once

#include <map>
#include <optional>

#include "gateway_server/history/history_points.h"
#include "gateway_server/judging/judged_update.h"

namespace aflguard::gateway {

/// Gathers verdicts and counters into steps of ten seconds of the wall clock. One thread.
class HistoryCollector final {
 public:
  /// The gateway's counters by now, since its start.
  struct Totals {
    std::uint64_t version = 0;
    std::uint64_t accepted = 0;
    std::uint64_t rejected = 0;
    std::uint64_t refused = 0;
    std::uint64_t delay_sum = 0;
    std::optional<double> test_error = {};
  };

  void add(const JudgedUpdate& update);
  /// What was gathered, when the wall clock has entered another step (or went back); none before.
  [[nodiscard]] std::optional<HistoryBatch> close_step(std::int64_t now_ms, const Totals& totals);
  /// What was gathered, whatever the clock says.
  [[nodiscard]] std::optional<HistoryBatch> close_now(const Totals& totals);

 private:
  std::optional<std::int64_t> begin_ms_;
  Totals at_begin_;
  std::map<ClientId, DevicePoint> devices_;
};

}  // namespace aflguard::gateway
