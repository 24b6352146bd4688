#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace aflguard::testing {

/// A number that ./run check sets, e.g. AFLGUARD_SEED or AFLGUARD_ROUNDS.
inline std::uint64_t from_environment(const char* name, std::uint64_t default_value) {
  const char* text = std::getenv(name);
  return text == nullptr ? default_value : std::stoull(text);
}

}  // namespace aflguard::testing
