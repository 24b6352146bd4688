#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "lab/runs/experiment.h"
#include "lab/tasks/settings.h"

namespace aflguard::lab {

/// A finished run, as it is printed and stored.
struct RunRecord {
  ExperimentSettings settings;
  ExperimentResult result;
  double seconds = 0;  ///< wall clock; not part of the result
};

/// {schema, test_error, attack_success, mse, mse_paper_scale, mee, accepted, rejected, iterations, seconds,
/// judging_seconds, seed, settings, fingerprint, context}; metrics that the data set does not have are null.
[[nodiscard]] nlohmann::ordered_json to_json(const RunRecord& record, const nlohmann::ordered_json& context);

/// The result and seconds of a stored run of exactly these settings. kNotFound when there is no file,
/// kInvalidInput when it holds a run of other settings, kCorrupt when it cannot be read.
[[nodiscard]] Result<RunRecord> read_run(const std::filesystem::path& path,
                                         const ExperimentSettings& settings);

}  // namespace aflguard::lab
