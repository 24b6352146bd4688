#pragma once

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/ecp.h>
#include <mbedtls/entropy.h>
#include <mbedtls/pk.h>

#include "core/identity_mbedtls/mbedtls_failure.h"
#include "core/identity_mbedtls/mbedtls_signer.h"

namespace aflguard {

/// The point of a key that must be on P-256. kInvalidInput for any other key; `what` names it.
[[nodiscard]] inline Result<PublicKey> p256_public_key(const mbedtls_pk_context& pk,
                                                       const std::string& what) {
  if (!mbedtls_pk_can_do(&pk, MBEDTLS_PK_ECDSA) || mbedtls_pk_ec(pk)->grp.id != MBEDTLS_ECP_DP_SECP256R1) {
    return invalid_input(what + " is not a P-256 key; make a new one");
  }
  const mbedtls_ecp_keypair& pair = *mbedtls_pk_ec(pk);
  PublicKey key{};
  std::size_t size = 0;
  const int code = mbedtls_ecp_point_write_binary(&pair.grp, &pair.Q, MBEDTLS_ECP_PF_UNCOMPRESSED, &size,
                                                  key.data(), key.size());
  if (code != 0 || size != key.size()) {
    return mbedtls_failure(ErrorKind::kInternal, what + " cannot be written", code);
  }
  return key;
}

/// The private key behind a signer, with its source of randomness; for the files of this adapter.
struct MbedtlsSigner::Key {
  Key() {
    mbedtls_pk_init(&pk);
    mbedtls_entropy_init(&entropy);
    mbedtls_ctr_drbg_init(&random);
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
  ~Key() {
    mbedtls_ctr_drbg_free(&random);
    mbedtls_entropy_free(&entropy);
    mbedtls_pk_free(&pk);
  }

  mbedtls_pk_context pk;
  mbedtls_entropy_context entropy;
  mbedtls_ctr_drbg_context random;
  PublicKey public_key{};
};

}  // namespace aflguard
