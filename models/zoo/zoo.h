#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/learning/model_description.h"
#include "models/forward_model.h"

namespace aflguard::models {

/// Unset: the model's own default.
struct ZooOptions {
  std::optional<std::size_t> features = {};   ///< of the models on feature vectors
  std::optional<std::size_t> classes = {};    ///< of the classifiers
  std::vector<std::size_t> input_shape = {};  ///< {channels, height, width} of the models on images
};

/// A model that comes with the project.
struct ZooEntry {
  const char* name;
  const char* summary;
  Loss loss;
  Result<ForwardModel> (*build)(const ZooOptions&);
};

[[nodiscard]] const std::vector<ZooEntry>& zoo();

/// kNotFound, listing the names, for an unknown one. The entry lives as long as the program.
[[nodiscard]] Result<const ZooEntry*> find_zoo_entry(std::string_view name);

/// kNotFound as of find_zoo_entry(); kInvalidInput for an option that the model does not have
/// or an input that is too small for it.
[[nodiscard]] Result<ForwardModel> build_zoo_model(std::string_view name, const ZooOptions& options);

// One file per family.
[[nodiscard]] Result<ForwardModel> build_linear_regression(const ZooOptions& options);
[[nodiscard]] Result<ForwardModel> build_logistic_regression(const ZooOptions& options);
[[nodiscard]] Result<ForwardModel> build_cnn(const ZooOptions& options);
[[nodiscard]] Result<ForwardModel> build_resnet20(const ZooOptions& options);
[[nodiscard]] Result<ForwardModel> build_resnet20_group_norm(const ZooOptions& options);

}  // namespace aflguard::models
