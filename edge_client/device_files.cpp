#include "edge_client/device_files.h"

#include <algorithm>
#include <utility>

#include "core/base/identifier.h"
#include "core/identity/pem_limit.h"
#include "core/identity_mbedtls/mbedtls_certificate.h"
#include "core/system/atomic_file.h"
#include "core/system/secret_file.h"
#include "edge_client/identity.h"
#include "edge_client/renewing/certificate_renewal.h"

namespace aflguard::edge {
namespace fs = std::filesystem;
namespace {

template <typename T>
Result<T> in_file(const fs::path& path, Result<T> result) {
  if (!result.ok()) return at(path.string(), result.error());
  return result;
}

Result<KeyTable> read_keys(const fs::path& path, std::string_view owner) {
  TRY(const std::string pem, read_text_file(path, kMaxPemBytes));
  TRY(const auto keys, in_file(path, read_public_keys_pem(pem)));
  KeyTable table;
  for (const PublicKey& key : keys) TRY_STATUS(in_file(path, table.add(owner, key)));
  return table;
}

}  // namespace

ClientConfig with_renewed_identity(ClientConfig config, LogSink& log) {
  const fs::path renewed = renewed_identity(config.state_folder);
  std::error_code error;
  if (!fs::exists(renewed, error)) return config;
  const auto end_of = [](const fs::path& file) -> Result<std::chrono::system_clock::time_point> {
    TRY(const std::string pem, read_text_file(file, kMaxPemBytes));
    TRY(const Certificate certificate, in_file(file, read_certificate_pem(pem)));
    return certificate.not_after;
  };
  const auto installed_end = end_of(config.certificate);
  const auto renewed_end = end_of(renewed);
  if (!renewed_end.ok()) {
    log.warning("the renewed identity is not used: " + renewed_end.error().message);
    return config;
  }
  if (installed_end.ok() && *installed_end >= *renewed_end) return config;  // a newer one was installed
  ClientConfig with_it = config;
  with_it.certificate = with_it.key = renewed;
  // One that does not fit, of another device or fleet, must not keep the board from its installed one.
  const auto usable = read_device_identity(with_it, std::chrono::system_clock::now());
  if (usable.ok() || usable.error().kind == ErrorKind::kUnavailable) return with_it;
  log.warning("the renewed identity is not used: " + usable.error().message);
  return config;
}

Result<DeviceIdentity> read_device_identity(const ClientConfig& config,
                                            std::chrono::system_clock::time_point now) {
  TRY(const std::string key_pem, read_secret_file(config.key));
  TRY(MbedtlsSigner signer, in_file(config.key, MbedtlsSigner::from_pem(key_pem)));
  TRY(const std::string certificate_pem, read_text_file(config.certificate, kMaxPemBytes));
  TRY(Certificate certificate, in_file(config.certificate, read_certificate_pem(certificate_pem)));
  TRY_STATUS(
      in_file(config.certificate, check_identity(certificate, signer.public_key(), config.device, now)));
  TRY(const std::string ca_pem, read_text_file(config.ca, kMaxPemBytes));
  TRY_STATUS(in_file(config.certificate, check_issuer(certificate_pem, ca_pem)));
  TRY(KeyTable gateway_keys, read_keys(config.gateway_keys, "gateway"));
  KeyTable release_keys;
  std::error_code error;
  const bool has_release_keys = fs::exists(config.release_keys, error);
  if (has_release_keys) {
    TRY(release_keys, read_keys(config.release_keys, "release"));
  }
  return DeviceIdentity{std::move(signer), std::move(certificate), std::move(gateway_keys),
                        std::move(release_keys), has_release_keys};
}

Result<Certificate> check_identity_files(const ClientConfig& config,
                                         std::chrono::system_clock::time_point now) {
  TRY(const std::string pem, read_text_file(config.certificate, kMaxPemBytes));
  TRY(const Certificate certificate, in_file(config.certificate, read_certificate_pem(pem)));
  TRY(DeviceIdentity identity, read_device_identity(config, std::max(now, certificate.not_before)));
  return std::move(identity.certificate);
}

Status make_device_identity(const std::string& device, const fs::path& folder) {
  TRY_STATUS(check_identifier("device name", device));
  const fs::path key_file = folder / "device.key";
  std::error_code error;
  if (fs::exists(key_file, error)) {
    return invalid_input(key_file.string() + " exists already; a key is never overwritten");
  }
  fs::create_directories(folder, error);
  if (error) return io_error("cannot make folder " + folder.string() + ": " + error.message());
  TRY(const MbedtlsSigner signer, MbedtlsSigner::generate());
  TRY(const std::string key, signer.private_pem());
  TRY(const std::string request, make_certificate_request(signer, device));
  TRY_STATUS(write_file_atomically(key_file, key, FileAccess::kOwnerOnly));
  return write_file_atomically(folder / "device.csr", request);
}

}  // namespace aflguard::edge
