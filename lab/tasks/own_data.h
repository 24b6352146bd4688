#pragma once

#include <string>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/model_description.h"

namespace aflguard::lab {

/// A user's samples as `dataset` of ExperimentSettings names them, in the shape of `model`; a fifth of them,
/// always the same, is the test part. `partition` "column:NAME": that column of the table says whose each
/// sample is, and is not a feature. kInvalidInput or kCorrupt, naming the file, when they do not fit the
/// model.
[[nodiscard]] Result<DatasetSplit> load_own_data(const std::string& dataset, const std::string& partition,
                                                 const ModelDescription& model);

/// SHA-256 of the files, hex.
[[nodiscard]] Result<std::string> own_data_digest(const std::string& dataset);

}  // namespace aflguard::lab
