#pragma once

#include "core/envelope/signature.h"

namespace aflguard {

/// ES256 with OpenSSL: how the gateway checks devices. Holds no state.
class OpensslVerifier final : public Verifier {
 public:
  [[nodiscard]] bool verify(const PublicKey& key, SignedParts parts,
                            const EcdsaSignature& signature) const override;
};

}  // namespace aflguard
