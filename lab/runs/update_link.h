#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/aggregation/client_update.h"
#include "core/base/result.h"
#include "core/encoding/vector_codec.h"
#include "lab/tasks/settings.h"

namespace aflguard::lab {

/// What updates lose between a client and the guard: they are encoded and decoded as a device and its gateway
/// do. Without a state for float32.
class UpdateLink final {
 public:
  /// The settings are valid.
  explicit UpdateLink(const ExperimentSettings& settings);

  /// `update` becomes what arrives. With feedback, what is lost of it is added to the client's next one.
  [[nodiscard]] Status carry(ClientId client, std::uint64_t iteration, std::span<float> update);

 private:
  bool exact_;
  bool feedback_;
  EncodingSet taken_;
  double most_error_;
  std::uint64_t seed_;
  std::map<ClientId, std::vector<float>> lost_;  ///< with feedback, of each client's last update
};

}  // namespace aflguard::lab
