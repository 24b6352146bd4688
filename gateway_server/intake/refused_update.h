#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/verdict/refusal.h"

namespace aflguard::gateway {

/// An update that will not be judged, and all that is known of it.
struct RefusedUpdate {
  std::string device;          ///< as the topic says; the broker's access list vouches for it
  std::uint64_t transfer = 0;  ///< of its envelope; 0: it had none
  std::uint64_t sequence = 0;  ///< 0: not known
  bool proven = false;         ///< the device's signature matched
  Refusal refusal = {};
  std::optional<std::chrono::milliseconds> come_back{};  ///< none: the desk finds a time where one is needed
};

}  // namespace aflguard::gateway
