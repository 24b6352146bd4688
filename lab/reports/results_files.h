#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "lab/campaigns/campaign.h"

namespace aflguard::lab {

/// One row per cell and metric, for spreadsheets.
[[nodiscard]] std::string results_csv(const Plan& plan, const std::vector<CellRuns>& cells);

/// Everything, for scripts. Depends on the results and the context alone: not on when, how fast or in how
/// many pieces the campaign ran.
[[nodiscard]] nlohmann::ordered_json results_json(const Plan& plan, const std::vector<CellRuns>& cells,
                                                  const nlohmann::ordered_json& context);

/// Writes results.csv, results.json and report.html into the folder.
[[nodiscard]] Status write_results(const Plan& plan, const std::vector<CellRuns>& cells,
                                   const nlohmann::ordered_json& context,
                                   const std::filesystem::path& folder);

}  // namespace aflguard::lab
