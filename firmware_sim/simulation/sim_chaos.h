#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace aflguard::sim {

struct SimChaosOptions {
  std::string fleet;
  std::uint64_t seed = 1;
  double minutes = 2;
  std::uint64_t timeout_seconds = 600;  ///< for every board to go on afterwards
  bool json = false;
};

/// Breaks a running simulation by a seeded script, repairs everything, waits until every honest board goes
/// on, and holds what the boards know against the gateway's store. Fails when anything was lost, repeated or
/// left out, when a program ended that was not killed, or when a board does not go on.
[[nodiscard]] Status sim_chaos(const SimChaosOptions& options);

struct SimWaitOptions {
  std::string fleet;
  std::string board;  ///< empty: every board that is plugged in
  std::size_t verdicts = 1;
  std::uint64_t timeout_seconds = 600;
};

/// Returns when each of the boards has got so many more verdicts.
[[nodiscard]] Status sim_wait(const SimWaitOptions& options);

}  // namespace aflguard::sim
