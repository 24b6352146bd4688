#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "lab/campaigns/plan.h"

namespace aflguard::lab {

inline constexpr std::string_view kLeagueName = "league";

/// Which guards face which attacks, where: every combination is a cell.
struct GridRequest {
  std::vector<std::string> guards;
  std::vector<std::string> attacks;
  std::vector<std::string> datasets;  ///< names, or a user's own files
  std::vector<double> malicious = {0.2};
  /// What all cells have in common besides the data set's defaults; null: nothing.
  std::function<void(ExperimentSettings& settings)> adjust = {};
};

/// Errors as default_settings(); kInvalidInput when a list is empty or says something twice. Combinations
/// that mean nothing are left out: attacks on a class where there are none, fractions where nothing attacks.
[[nodiscard]] Result<Plan> plan_grid(const GridRequest& request);

/// Every asynchronous guard against every attack, on synthetic data and HAR (or on `overrides.dataset`), 20 %
/// and 45 % malicious.
[[nodiscard]] Result<Plan> plan_league(const PlanOverrides& overrides);

/// An attack that means nothing where there is nothing to classify.
[[nodiscard]] bool wants_classes(std::string_view attack);

/// As "%g" prints it.
[[nodiscard]] std::string short_number(double value);

}  // namespace aflguard::lab
