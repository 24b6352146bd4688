#pragma once

#include <string>

namespace aflguard {

/// Machine and build: what a reader needs to judge results, and nothing that changes from run to run.
struct MachineContext {
  std::string version;    ///< the product's
  std::string processor;  ///< "unknown" where the system does not say
  unsigned cores = 0;
  std::string compiler;
  std::string build;  ///< "optimised" or "with assertions"
};

[[nodiscard]] MachineContext machine_context();

}  // namespace aflguard
