#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "lab/campaigns/paper_numbers.h"
#include "lab/tasks/settings.h"

namespace aflguard::lab {

struct PrintedNumber {
  Metric metric = Metric::kTestError;
  double value = 0;
  bool more_than = false;
};

/// One cell of a table, or one point of a figure: an experiment, to be run with several seeds.
struct PlannedCell {
  std::string id;               ///< unique within the plan and fit for a file name
  ExperimentSettings settings;  ///< with seed 0
  std::optional<double> x;      ///< what the plan varies, if anything
  std::vector<PrintedNumber> paper;
};

enum class PlanKind : std::uint8_t {
  kTable,
  kFigure,
  kGrid,    ///< what a user asked for
  kLeague,  ///< every guard against every attack
};

/// A table or figure as a list of experiments.
struct Plan {
  PlanKind kind = PlanKind::kTable;
  std::string name;    ///< "1", "2a", ..., "malicious-fraction", ...
  std::string title;   ///< for people
  std::string x_name;  ///< what is varied; empty for tables without
  std::vector<PlannedCell> cells;

  /// "table-2a", "figure-lambda", "grid", "table-league"
  [[nodiscard]] std::string id() const;
};

/// What a user may change about every cell.
struct PlanOverrides {
  /// Figures: instead of MNIST. Tables: only the rows of this data set.
  std::optional<std::string> dataset = {};
  std::optional<double> malicious = {};  ///< tables that vary the malicious fraction: only this one
  std::optional<std::size_t> iterations = {};
  std::optional<std::string> guard = {};  ///< only this one, whether the paper has it or not
};

[[nodiscard]] const std::vector<std::string_view>& table_names();
[[nodiscard]] const std::vector<std::string_view>& figure_names();

/// kInvalidInput, with the nearest name that exists, when there is none of that name.
[[nodiscard]] Result<Plan> plan_table(std::string_view name, const PlanOverrides& overrides);
[[nodiscard]] Result<Plan> plan_figure(std::string_view name, const PlanOverrides& overrides);

/// SHA-256 over every cell's settings: folders with the same fingerprint hold runs of the same plan.
[[nodiscard]] std::string fingerprint(const Plan& plan);

}  // namespace aflguard::lab
