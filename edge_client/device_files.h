#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "core/base/result.h"
#include "core/identity/certificate.h"
#include "core/identity/device_registry.h"
#include "core/identity_mbedtls/mbedtls_signer.h"
#include "edge_client/client_config.h"

namespace aflguard::edge {

/// Who this device is and whom it believes, read from its files and checked.
struct DeviceIdentity {
  MbedtlsSigner signer;
  Certificate certificate;
  KeyTable gateway_keys;
  KeyTable release_keys;  ///< empty in bundles of older programs
  bool has_release_keys = false;
};

/// Errors name the file.
[[nodiscard]] Result<DeviceIdentity> read_device_identity(const ClientConfig& config,
                                                          std::chrono::system_clock::time_point now);

/// The configuration with the identity that was renewed over the broker, which lies in the state folder,
/// where there is one and it lasts longer than the one that the configuration names.
[[nodiscard]] ClientConfig with_renewed_identity(ClientConfig config, LogSink& log);

/// The same files, checked on a machine whose clock may be behind: a certificate that begins after `now` is
/// fine, one that has ended is not. Gives the certificate.
[[nodiscard]] Result<Certificate> check_identity_files(const ClientConfig& config,
                                                       std::chrono::system_clock::time_point now);

/// Makes a new key and a certificate request for `device` in `folder`: device.key (0600), device.csr.
/// kInvalidInput when the folder has a key already: a key is never overwritten.
[[nodiscard]] Status make_device_identity(const std::string& device, const std::filesystem::path& folder);

}  // namespace aflguard::edge
