#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lab/campaigns/campaign.h"

namespace aflguard::lab {

/// One page: for each data set and malicious fraction the guards in the order of their worst row, with that
/// row's attack and spread over seeds and what judging an update costs; below, every cell.
[[nodiscard]] std::string league_html(const Plan& plan, const std::vector<CellRuns>& cells,
                                      const nlohmann::ordered_json& context);

/// How a guard did against all attacks of one data set and malicious fraction.
struct LeagueRow {
  std::string guard;
  double without_attack = 0;  ///< of the same data set
  double mean = 0;            ///< over attacks, of means over seeds
  double worst = 0;           ///< largest mean over seeds
  double worst_low = 0;       ///< of its seeds
  double worst_high = 0;
  std::string worst_attack;
  double microseconds = 0;  ///< CPU time per update; 0 when no run says
};

/// Best worst row first. What is not a number counts as infinite.
[[nodiscard]] std::vector<LeagueRow> league_rows(const std::vector<CellRuns>& cells,
                                                 const std::string& dataset, double malicious);

}  // namespace aflguard::lab
