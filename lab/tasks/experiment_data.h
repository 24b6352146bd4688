#pragma once

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/data/partition.h"
#include "lab/tasks/settings.h"

namespace aflguard::lab {

/// Who has which data in one experiment.
struct ExperimentData {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
  Shares shares;                  ///< per client, positions within `train`
  Dataset trusted;                ///< the server's
  std::vector<float> true_model;  ///< of synthetic data; else empty
};

/// Deals out the data as the settings and their seed say. `source` is the installed data set, shared by all
/// experiments; null for synthetic data, which is generated from the seed.
/// kInvalidInput when the settings ask for more than there is.
[[nodiscard]] Result<ExperimentData> prepare_data(const ExperimentSettings& settings,
                                                  std::shared_ptr<const DatasetSplit> source);

}  // namespace aflguard::lab
