#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lab/campaigns/campaign.h"

namespace aflguard::lab {

/// One page that needs nothing else: our numbers beside the paper's, coloured by agreement, plots, settings.
/// Like results_json(), it depends on results and context alone.
[[nodiscard]] std::string report_html(const Plan& plan, const std::vector<CellRuns>& cells,
                                      const nlohmann::ordered_json& context, const std::string& opening = {});

}  // namespace aflguard::lab
