#include "lab/campaigns/summary.h"

#include <algorithm>

#include "core/base/check.h"

namespace aflguard::lab {
namespace {

std::optional<double> value_of(const Metrics& metrics, Metric metric) {
  switch (metric) {
    case Metric::kTestError:
      return metrics.test_error;
    case Metric::kAttackSuccess:
      return metrics.attack_success;
    case Metric::kMse:
      return metrics.mse_paper_scale();
    case Metric::kMee:
      return metrics.mee;
  }
  return std::nullopt;
}

std::optional<MetricSummary> summarise_metric(const CellRuns& cell, Metric metric) {
  MetricSummary summary;
  summary.metric = metric;
  bool first = true;
  double plain = 0;
  for (const RunRecord& run : cell.runs) {
    const std::optional<double> value = value_of(run.result.metrics, metric);
    if (!value) return std::nullopt;
    const double share = 1.0 / static_cast<double>(cell.runs.size());
    summary.mean += *value * share;
    if (metric == Metric::kMse) plain += *run.result.metrics.mse * share;
    summary.lowest = first ? *value : std::min(summary.lowest, *value);
    summary.highest = first ? *value : std::max(summary.highest, *value);
    first = false;
  }
  if (first) return std::nullopt;
  if (metric == Metric::kMse) summary.plain_mean = plain;
  for (const PrintedNumber& printed : cell.cell.paper) {
    if (printed.metric != metric) continue;
    summary.paper = printed;
    summary.agreement = compare_with_paper(metric, summary.mean, printed.value, printed.more_than);
  }
  return summary;
}

}  // namespace

std::vector<MetricSummary> summarise(const CellRuns& cell) {
  std::vector<MetricSummary> all;
  for (const Metric metric : {Metric::kTestError, Metric::kAttackSuccess, Metric::kMse, Metric::kMee}) {
    if (auto summary = summarise_metric(cell, metric)) all.push_back(*summary);
  }
  return all;
}

const MetricSummary& main_metric(const std::vector<MetricSummary>& metrics) {
  check(!metrics.empty(), "a cell without metrics");
  const auto mee = std::find_if(metrics.begin(), metrics.end(),
                                [](const MetricSummary& m) { return m.metric == Metric::kMee; });
  return mee != metrics.end() ? *mee : metrics.front();
}

}  // namespace aflguard::lab
