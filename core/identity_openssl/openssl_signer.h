#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/identity/signature.h"

namespace aflguard {

/// A P-256 private key held by OpenSSL: the gateway's side.
class OpensslSigner final : public Signer {
 public:
  [[nodiscard]] static Result<OpensslSigner> generate();
  /// From PEM (SEC 1 or PKCS#8, not encrypted); kInvalidInput when it is not a P-256 key.
  [[nodiscard]] static Result<OpensslSigner> from_pem(std::string_view pem);

  OpensslSigner(OpensslSigner&&) noexcept;
  OpensslSigner& operator=(OpensslSigner&&) noexcept;
  ~OpensslSigner() override;

  [[nodiscard]] const PublicKey& public_key() const override;
  [[nodiscard]] Result<EcdsaSignature> sign(SignedParts parts) override;
  /// The private key as PEM (PKCS#8); the caller keeps it secret.
  [[nodiscard]] Result<std::string> private_pem() const;

 private:
  struct Key;
  explicit OpensslSigner(std::unique_ptr<Key> key);
  std::unique_ptr<Key> key_;
};

}  // namespace aflguard
