#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/result.h"
#include "core/envelope/messages.h"

namespace aflguard::edge {

/// What one training gives: the update, and what the device says about it.
struct TrainedUpdate {
  std::vector<float> vector;
  std::uint64_t samples = 0;
  double loss = 0;
};

/// How a device turns the global model into an update. The engine takes it through this interface, so that
/// the very same engine can be run with another idea of what to send.
class LocalTraining {
 public:
  /// Asked between steps: false ends the training early.
  using KeepGoing = std::function<bool()>;

  virtual ~LocalTraining() = default;
  /// kUnavailable when it may work later (no samples yet) or keep_going said no; other errors are trouble.
  [[nodiscard]] virtual Result<TrainedUpdate> train(const ModelMessage& model,
                                                    const KeepGoing& keep_going) = 0;
};

}  // namespace aflguard::edge
