#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace aflguard::gateway {

/// One version of the global model. It does not change, so that threads share it.
struct ModelSnapshot {
  std::uint64_t version = 0;
  std::uint64_t iteration = 0;  ///< updates judged when it was taken
  std::vector<float> parameters;
};
using SharedModel = std::shared_ptr<const ModelSnapshot>;

}  // namespace aflguard::gateway
