#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/identity/signature.h"

namespace aflguard {

/// A P-256 private key held by Mbed TLS: the device's side. Signatures are deterministic (RFC 6979), so a
/// board with a poor source of randomness does not give its key away.
class MbedtlsSigner final : public Signer {
 public:
  /// A new key from the operating system's randomness.
  [[nodiscard]] static Result<MbedtlsSigner> generate();
  /// From PEM (SEC 1 or PKCS#8, not encrypted); kInvalidInput when it is not a P-256 key.
  [[nodiscard]] static Result<MbedtlsSigner> from_pem(std::string_view pem);

  MbedtlsSigner(MbedtlsSigner&&) noexcept;
  MbedtlsSigner& operator=(MbedtlsSigner&&) noexcept;
  ~MbedtlsSigner() override;

  [[nodiscard]] const PublicKey& public_key() const override;
  [[nodiscard]] Result<EcdsaSignature> sign(SignedParts parts) override;
  /// The private key as PEM (SEC 1); the caller keeps it secret.
  [[nodiscard]] Result<std::string> private_pem() const;

 private:
  friend Result<std::string> make_certificate_request(const MbedtlsSigner& key,
                                                      const std::string& common_name);
  struct Key;
  explicit MbedtlsSigner(std::unique_ptr<Key> key);
  std::unique_ptr<Key> key_;
};

}  // namespace aflguard
