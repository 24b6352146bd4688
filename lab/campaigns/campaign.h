#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "lab/campaigns/plan.h"
#include "lab/campaigns/run_record.h"
#include "lab/runs/experiment.h"

namespace aflguard::lab {

/// What the runs of a campaign need from outside, by data set.
struct LabResources {
  Catalog catalog;
  std::function<Result<ModelSource>(const std::string& dataset)> model;
  /// Null for data that is generated.
  std::function<Result<std::shared_ptr<const DatasetSplit>>(const std::string& dataset)> data;
};

struct CampaignOptions {
  std::filesystem::path folder;
  std::uint64_t seeds = 3;
  std::uint64_t first_seed = 1;
  std::size_t jobs = 1;  ///< runs side by side
};

/// How far the campaign is: reported at the start, after every run, and about every second in between.
struct CampaignProgress {
  std::size_t done = 0;  ///< runs
  std::size_t total = 0;
  double share = 0;              ///< of the estimated work, runs in progress included; 0 to 1
  double remaining_seconds = 0;  ///< estimated; 0 when nothing is known yet
  std::string finished;          ///< the run that just ended, e.g. "gd-aflguard seed 2"; else empty
  double seconds = 0;            ///< that it took
};
using CampaignObserver = std::function<void(const CampaignProgress& progress)>;

/// All runs of one cell, in the order of their seeds.
struct CellRuns {
  PlannedCell cell;
  std::vector<RunRecord> runs;
};

/// Runs every cell of the plan with every seed, `jobs` at a time, and returns all results in the plan's
/// order. Each finished run is stored in the folder (runs/CELL-seedN.json), so a campaign that was
/// interrupted continues where it was; asking for more seeds later adds to it.
/// kInvalidInput, and nothing is written, when the folder holds results of other settings or other files.
[[nodiscard]] Result<std::vector<CellRuns>> run_campaign(const Plan& plan, const CampaignOptions& options,
                                                         const LabResources& resources,
                                                         const nlohmann::ordered_json& context,
                                                         const CampaignObserver& observer);

}  // namespace aflguard::lab
