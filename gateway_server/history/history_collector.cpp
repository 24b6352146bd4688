#include "gateway_server/history/history_collector.h"

#include <cmath>
#include <utility>

namespace aflguard::gateway {

void HistoryCollector::add(const JudgedUpdate& update) {
  const Verdict& verdict = update.verdict;
  DevicePoint& point = devices_[update.id];
  point.device = update.id;
  ++(verdict.accepted ? point.accepted : point.rejected);
  point.delay_sum += verdict.delay;
  if (!std::isfinite(verdict.distance) || !std::isfinite(verdict.bound)) return;
  ++point.measured;
  point.distance_sum += verdict.distance;
  point.bound_sum += verdict.bound;
}

std::optional<HistoryBatch> HistoryCollector::close_step(std::int64_t now_ms, const Totals& totals) {
  const std::int64_t begin = step_begin(now_ms, kHistoryLevels[0].step_ms);
  if (begin_ms_ == begin) return std::nullopt;
  auto batch = close_now(totals);
  begin_ms_ = begin;
  at_begin_ = totals;
  return batch;
}

std::optional<HistoryBatch> HistoryCollector::close_now(const Totals& totals) {
  if (!begin_ms_) return std::nullopt;
  HistoryBatch batch;
  batch.fleet.time_ms = *std::exchange(begin_ms_, std::nullopt);
  batch.fleet.version = totals.version;
  batch.fleet.accepted = totals.accepted - at_begin_.accepted;
  batch.fleet.rejected = totals.rejected - at_begin_.rejected;
  batch.fleet.refused = totals.refused - at_begin_.refused;
  batch.fleet.delay_sum = totals.delay_sum - at_begin_.delay_sum;
  batch.fleet.test_error = totals.test_error;
  for (auto& [id, point] : std::exchange(devices_, {})) {
    point.time_ms = batch.fleet.time_ms;
    batch.devices.push_back(point);
  }
  return batch;
}

}  // namespace aflguard::gateway
