#pragma once

#include "core/identity/signature.h"

namespace aflguard {

/// ES256 with Mbed TLS: how a device checks its gateway. Holds no state.
class MbedtlsVerifier final : public Verifier {
 public:
  [[nodiscard]] bool verify(const PublicKey& key, SignedParts parts,
                            const EcdsaSignature& signature) const override;
};

}  // namespace aflguard
