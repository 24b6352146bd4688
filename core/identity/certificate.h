#pragma once

#include <chrono>
#include <string>

#include "core/identity/signature.h"

namespace aflguard {

/// What this project reads from an X.509 certificate.
struct Certificate {
  std::string common_name;  ///< the owner's name
  PublicKey public_key{};
  std::chrono::system_clock::time_point not_before;
  std::chrono::system_clock::time_point not_after;
};

}  // namespace aflguard
