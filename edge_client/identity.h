#pragma once

#include <chrono>
#include <string>

#include "core/base/result.h"
#include "core/identity/certificate.h"
#include "core/identity/signature.h"

namespace aflguard::edge {

/// kInvalidInput when the certificate is not of `device` or not for `key`; kUnavailable when it is not valid
/// at `now`, with what to do.
[[nodiscard]] Status check_identity(const Certificate& certificate, const PublicKey& key,
                                    const std::string& device, std::chrono::system_clock::time_point now);

}  // namespace aflguard::edge
