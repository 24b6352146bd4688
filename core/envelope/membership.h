#pragma once

#include <cstddef>
#include <string>

#include "core/envelope/messages.h"

namespace aflguard {

/// Which fleet a device is in, by which name, and what that fleet trains: what messages to and from it are
/// about.
struct Membership {
  std::string fleet;
  std::string device;
  ModelHash model_hash{};
  std::size_t dimension = 0;  ///< of the model
};

}  // namespace aflguard
