#pragma once

#include <cstdint>
#include <span>

namespace aflguard {

/// A client's number within its fleet. It comes from a verified identity, never from the update itself.
using ClientId = std::uint64_t;

/// One model update as it reaches the aggregator, borrowed for the time of the call.
struct ClientUpdate {
  ClientId client = 0;
  std::uint64_t base_version = 0;  ///< version of the global model that the update was computed on
  std::span<const float> vector;   ///< SUM of per-sample gradients over the client's mini-batch
};

}  // namespace aflguard
