#pragma once

#include "core/base/named_options.h"
#include "lab/tasks/settings.h"

namespace aflguard::lab {

/// How many benign clients an attacker who knows everything averages over.
inline constexpr NamedOption kBenignSample = {
    "sample", 0, 0, 1e6, "benign clients whose fresh updates are averaged; 0: as many as suits the data set"};

[[nodiscard]] inline std::size_t benign_sample(const ExperimentSettings& settings) {
  const double chosen = option_or(settings.attack_options, "sample", kBenignSample.default_value);
  if (chosen > 0) return static_cast<std::size_t>(chosen);
  const auto known = find_lab_dataset(settings.dataset);
  return known ? (*known)->attacker_sample : settings.clients;
}

}  // namespace aflguard::lab
