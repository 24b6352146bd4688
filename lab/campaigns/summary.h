#pragma once

#include <optional>
#include <vector>

#include "lab/campaigns/campaign.h"
#include "lab/campaigns/paper_numbers.h"

namespace aflguard::lab {

/// One metric over the seeds of one cell, beside what the paper prints for it.
struct MetricSummary {
  Metric metric = Metric::kTestError;
  double mean = 0;
  double lowest = 0;
  double highest = 0;
  std::optional<double> plain_mean;  ///< of a mean squared error, which `mean` gives on the paper's scale
  std::optional<PrintedNumber> paper;
  std::optional<Agreement> agreement;  ///< there when `paper` is
};

/// All metrics that the cell's runs have, in the order of the enumeration. Mean squared errors are on the
/// paper's scale.
[[nodiscard]] std::vector<MetricSummary> summarise(const CellRuns& cell);

/// The metric that tells best how the cell did: the estimation error of regressions, else the test error.
[[nodiscard]] const MetricSummary& main_metric(const std::vector<MetricSummary>& metrics);

}  // namespace aflguard::lab
