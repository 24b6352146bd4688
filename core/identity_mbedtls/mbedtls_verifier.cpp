#include "core/identity_mbedtls/mbedtls_verifier.h"

#include <mbedtls/ecdsa.h>

#include "core/identity_mbedtls/mbedtls_digest.h"

namespace aflguard {

namespace {

/// Everything that one verification needs, freed together.
struct Workspace {
  Workspace() {
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_point_init(&point);
    mbedtls_mpi_init(&r);
    mbedtls_mpi_init(&s);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() {
    mbedtls_mpi_free(&s);
    mbedtls_mpi_free(&r);
    mbedtls_ecp_point_free(&point);
    mbedtls_ecp_group_free(&group);
  }
  mbedtls_ecp_group group;
  mbedtls_ecp_point point;
  mbedtls_mpi r;
  mbedtls_mpi s;
};

}  // namespace

bool MbedtlsVerifier::verify(const PublicKey& key, SignedParts parts, const EcdsaSignature& signature) const {
  std::array<std::uint8_t, 32> digest{};
  Workspace work;
  return mbedtls_digest_of(parts, digest) &&
         mbedtls_ecp_group_load(&work.group, MBEDTLS_ECP_DP_SECP256R1) == 0 &&
         mbedtls_ecp_point_read_binary(&work.group, &work.point, key.data(), key.size()) == 0 &&
         mbedtls_ecp_check_pubkey(&work.group, &work.point) == 0 &&
         mbedtls_mpi_read_binary(&work.r, signature.data(), 32) == 0 &&
         mbedtls_mpi_read_binary(&work.s, signature.data() + 32, 32) == 0 &&
         mbedtls_ecdsa_verify(&work.group, digest.data(), digest.size(), &work.point, &work.r, &work.s) == 0;
}

}  // namespace aflguard
