#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "core/identity/signature.h"

namespace aflguard {

/// ES256 with OpenSSL: how the gateway checks devices. Remembers keys as OpenSSL wants them, because checking
/// that a key is a point of the curve costs as much as a part of the signature. Safe from several threads.
class OpensslVerifier final : public Verifier {
 public:
  [[nodiscard]] bool verify(const PublicKey& key, SignedParts parts,
                            const EcdsaSignature& signature) const override;

 private:
  struct ParsedKey;
  [[nodiscard]] std::shared_ptr<const ParsedKey> parsed(const PublicKey& key) const;
  mutable std::mutex mutex_;
  mutable std::map<PublicKey, std::shared_ptr<const ParsedKey>> parsed_;
};

}  // namespace aflguard
