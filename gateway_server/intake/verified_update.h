#pragma once

#include <string>

#include "core/envelope/messages.h"
#include "gateway_server/intake/update_quota.h"

namespace aflguard::gateway {

/// An update whose sender is proven and whose fleet, model and size fit.
struct VerifiedUpdate {
  std::string device;
  UpdateMessage message;
  UpdateQuota::Place place = nullptr;  ///< among those that wait
  std::uint8_t format = 1;             ///< that it came in
  std::size_t envelope_bytes = 0;      ///< in which it came
};

}  // namespace aflguard::gateway
