#include "core/identity_mbedtls/mbedtls_signer.h"

#include <array>
#include <mbedtls/ecdsa.h>
#include <span>

#include "core/identity_mbedtls/mbedtls_digest.h"
#include "core/identity_mbedtls/mbedtls_key.h"

namespace aflguard {

namespace {

/// An integer of Mbed TLS that frees itself.
struct Number {
  Number() { mbedtls_mpi_init(&value); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mbedtls_mpi_free(&value); }
  mbedtls_mpi value;
};

/// Fills a context's source of randomness from the operating system's.
Status seed(mbedtls_ctr_drbg_context& random, mbedtls_entropy_context& entropy) {
  if (const int code = mbedtls_ctr_drbg_seed(&random, mbedtls_entropy_func, &entropy, nullptr, 0);
      code != 0) {
    return mbedtls_failure(ErrorKind::kIo, "the system's randomness cannot be read", code);
  }
  return {};
}

}  // namespace

MbedtlsSigner::MbedtlsSigner(std::unique_ptr<Key> key) : key_(std::move(key)) {}
MbedtlsSigner::MbedtlsSigner(MbedtlsSigner&&) noexcept = default;
MbedtlsSigner& MbedtlsSigner::operator=(MbedtlsSigner&&) noexcept = default;
MbedtlsSigner::~MbedtlsSigner() = default;

Result<MbedtlsSigner> MbedtlsSigner::generate() {
  auto key = std::make_unique<Key>();
  TRY_STATUS(seed(key->random, key->entropy));
  int code = mbedtls_pk_setup(&key->pk, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
  if (code == 0) {
    code = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(key->pk), mbedtls_ctr_drbg_random,
                               &key->random);
  }
  if (code != 0) return mbedtls_failure(ErrorKind::kInternal, "no key can be made", code);
  TRY(key->public_key, p256_public_key(key->pk, "the private key"));
  return MbedtlsSigner(std::move(key));
}

Result<MbedtlsSigner> MbedtlsSigner::from_pem(std::string_view pem) {
  auto key = std::make_unique<Key>();
  TRY_STATUS(seed(key->random, key->entropy));
  const std::string terminated(pem);  // Mbed TLS wants PEM with its final zero
  const auto* bytes = reinterpret_cast<const unsigned char*>(terminated.c_str());
  const int code = mbedtls_pk_parse_key(&key->pk, bytes, terminated.size() + 1, nullptr, 0);
  if (code != 0) return mbedtls_failure(ErrorKind::kInvalidInput, "the private key cannot be read", code);
  TRY(key->public_key, p256_public_key(key->pk, "the private key"));
  return MbedtlsSigner(std::move(key));
}

const PublicKey& MbedtlsSigner::public_key() const {
  return key_->public_key;
}

Result<EcdsaSignature> MbedtlsSigner::sign(SignedParts parts) {
  std::array<std::uint8_t, 32> digest{};
  if (!mbedtls_digest_of(parts, digest)) return internal_error("Mbed TLS cannot compute SHA-256");
  mbedtls_ecp_keypair& pair = *mbedtls_pk_ec(key_->pk);
  Number r;
  Number s;
  int code = mbedtls_ecdsa_sign_det_ext(&pair.grp, &r.value, &s.value, &pair.d, digest.data(), digest.size(),
                                        MBEDTLS_MD_SHA256, mbedtls_ctr_drbg_random, &key_->random);
  EcdsaSignature signature{};
  if (code == 0) code = mbedtls_mpi_write_binary(&r.value, signature.data(), 32);
  if (code == 0) code = mbedtls_mpi_write_binary(&s.value, signature.data() + 32, 32);
  if (code != 0) return mbedtls_failure(ErrorKind::kInternal, "Mbed TLS cannot sign", code);
  return signature;
}

Result<std::string> MbedtlsSigner::private_pem() const {
  std::array<unsigned char, 1024> pem{};
  const int code = mbedtls_pk_write_key_pem(&key_->pk, pem.data(), pem.size());
  if (code != 0) return mbedtls_failure(ErrorKind::kInternal, "the private key cannot be written", code);
  std::string text(reinterpret_cast<const char*>(pem.data()));
  pem.fill(0);
  return text;
}

}  // namespace aflguard
