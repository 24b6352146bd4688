#pragma once

#include "lab/attacks/attack.h"

namespace aflguard::lab {

/// How many honest devices an attacker who knows everything averages over.
inline constexpr NamedOption kHonestSample = {
    "sample", 0, 0, 1e6, "honest clients whose fresh updates are averaged; 0: as many as suits the data set"};

[[nodiscard]] inline std::size_t honest_sample(const AttackSettings& settings) {
  const double chosen = settings.option("sample", kHonestSample.default_value);
  return chosen > 0 ? static_cast<std::size_t>(chosen) : settings.honest_sample;
}

}  // namespace aflguard::lab
