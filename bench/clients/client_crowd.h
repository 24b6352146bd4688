#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::bench {

struct ClientCrowdOptions {
  std::size_t clients = 200;
  double seconds = 300;  ///< after all are started
  std::function<bool()> stop = {};
};

/// What a fleet of real client processes did, and what it took.
struct ClientCrowdOutcome {
  std::size_t clients = 0;
  std::size_t served = 0;     ///< with at least one verdict in the second half
  std::uint64_t updates = 0;  ///< judged while it was measured
  std::uint64_t fewest_updates = 0;
  std::uint64_t median_updates = 0;
  double seconds = 0;
  double first_error = 0;  ///< mean squared error of the first model on the test samples
  double last_error = 0;
  double gateway_cores = 0;  ///< CPU seconds per second
  double broker_cores = 0;
  double clients_cores = 0;  ///< of all of them
  double gateway_peak_mb = 0;
  double client_mb = 0;  ///< of one, the mean; of shared pages its share
};

/// Real clients, each a process with its own identity and samples, train the synthetic regression under
/// AFLGuard over Mosquitto with TLS.
[[nodiscard]] Result<ClientCrowdOutcome> run_client_crowd(const ClientCrowdOptions& options,
                                                          Progress& progress);

}  // namespace aflguard::bench
