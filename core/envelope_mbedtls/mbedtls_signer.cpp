#include "core/envelope_mbedtls/mbedtls_signer.h"

#include <array>
#include <mbedtls/ctr_drbg.h>
#include <mbedtls/ecdsa.h>
#include <mbedtls/entropy.h>
#include <mbedtls/error.h>
#include <mbedtls/pk.h>
#include <span>

#include "core/envelope_mbedtls/mbedtls_digest.h"

namespace aflguard {

namespace {

Error failed(ErrorKind kind, const std::string& what, int code) {
  std::array<char, 128> text{};
  mbedtls_strerror(code, text.data(), text.size());
  return {kind, what + ": " + text.data()};
}

/// An integer of Mbed TLS that frees itself.
struct Number {
  Number() { mbedtls_mpi_init(&value); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mbedtls_mpi_free(&value); }
  mbedtls_mpi value;
};

}  // namespace

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

  [[nodiscard]] Status seed() {
    if (const int code = mbedtls_ctr_drbg_seed(&random, mbedtls_entropy_func, &entropy, nullptr, 0);
        code != 0) {
      return failed(ErrorKind::kIo, "the system's randomness cannot be read", code);
    }
    return {};
  }

  [[nodiscard]] Status read_public_key() {
    const mbedtls_ecp_keypair& pair = *mbedtls_pk_ec(pk);
    std::size_t size = 0;
    const int code = mbedtls_ecp_point_write_binary(&pair.grp, &pair.Q, MBEDTLS_ECP_PF_UNCOMPRESSED, &size,
                                                    public_key.data(), public_key.size());
    if (code != 0 || size != public_key.size()) {
      return failed(ErrorKind::kInternal, "the public key cannot be written", code);
    }
    return {};
  }

  mbedtls_pk_context pk;
  mbedtls_entropy_context entropy;
  mbedtls_ctr_drbg_context random;
  PublicKey public_key{};
};

MbedtlsSigner::MbedtlsSigner(std::unique_ptr<Key> key) : key_(std::move(key)) {}
MbedtlsSigner::MbedtlsSigner(MbedtlsSigner&&) noexcept = default;
MbedtlsSigner& MbedtlsSigner::operator=(MbedtlsSigner&&) noexcept = default;
MbedtlsSigner::~MbedtlsSigner() = default;

Result<MbedtlsSigner> MbedtlsSigner::generate() {
  auto key = std::make_unique<Key>();
  TRY_STATUS(key->seed());
  int code = mbedtls_pk_setup(&key->pk, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));
  if (code == 0) {
    code = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(key->pk), mbedtls_ctr_drbg_random,
                               &key->random);
  }
  if (code != 0) return failed(ErrorKind::kInternal, "no key can be made", code);
  TRY_STATUS(key->read_public_key());
  return MbedtlsSigner(std::move(key));
}

Result<MbedtlsSigner> MbedtlsSigner::from_pem(std::string_view pem) {
  auto key = std::make_unique<Key>();
  TRY_STATUS(key->seed());
  const std::string terminated(pem);  // Mbed TLS wants PEM with its final zero
  const auto* bytes = reinterpret_cast<const unsigned char*>(terminated.c_str());
  const int code = mbedtls_pk_parse_key(&key->pk, bytes, terminated.size() + 1, nullptr, 0);
  if (code != 0) return failed(ErrorKind::kInvalidInput, "the private key cannot be read", code);
  if (!mbedtls_pk_can_do(&key->pk, MBEDTLS_PK_ECDSA) ||
      mbedtls_pk_ec(key->pk)->grp.id != MBEDTLS_ECP_DP_SECP256R1) {
    return invalid_input("the private key is not a P-256 key; make a new one");
  }
  TRY_STATUS(key->read_public_key());
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
  if (code != 0) return failed(ErrorKind::kInternal, "Mbed TLS cannot sign", code);
  return signature;
}

Result<std::string> MbedtlsSigner::private_pem() const {
  std::array<unsigned char, 1024> pem{};
  const int code = mbedtls_pk_write_key_pem(&key_->pk, pem.data(), pem.size());
  if (code != 0) return failed(ErrorKind::kInternal, "the private key cannot be written", code);
  std::string text(reinterpret_cast<const char*>(pem.data()));
  pem.fill(0);
  return text;
}

}  // namespace aflguard
