#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "core/identity/certificate.h"
#include "core/identity/signature.h"

namespace aflguard::edge {

/// The content of a file that holds a secret. kInvalidInput, with the command that mends it, when the file is
/// not a regular one, belongs to somebody else than this user or root, or may be read by anybody else.
[[nodiscard]] Result<std::string> read_secret_file(const std::filesystem::path& path);

/// kInvalidInput when the certificate is not of `device` or not for `key`; kUnavailable when it is not valid
/// at `now`, with what to do.
[[nodiscard]] Status check_identity(const Certificate& certificate, const PublicKey& key,
                                    const std::string& device, std::chrono::system_clock::time_point now);

}  // namespace aflguard::edge
