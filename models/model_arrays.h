#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/model_description.h"

namespace aflguard::models {

// Reading the .npy files that the model verbs take. Every error names the file, what it holds and what the
// model wants.

/// float32 [dimension]; a file that says which model it was made for must say this one.
[[nodiscard]] Result<std::vector<float>> read_theta(const std::string& path, const ModelDescription& model);

struct Samples {
  std::size_t count = 0;
  std::vector<float> features;
};

/// float32 [count, input shape...], at least one sample; for a model on ids also int64.
[[nodiscard]] Result<Samples> read_samples(const std::string& path, const ModelDescription& model);

struct Targets {
  std::vector<std::int64_t> labels;  ///< cross-entropy: int64 [count], each below the number of classes
  std::vector<float> values;         ///< mean squared error: float32 [count, output shape...]
};

/// For models with one output per sample, [count] and [count, 1] are the same.
[[nodiscard]] Result<Targets> read_targets(const std::string& path, const ModelDescription& model,
                                           std::size_t count);

}  // namespace aflguard::models
