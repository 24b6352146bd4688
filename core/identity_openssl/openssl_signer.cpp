#include "core/identity_openssl/openssl_signer.h"

#include <array>
#include <cstring>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "core/identity_openssl/openssl_handles.h"
#include "core/identity_openssl/x509_text.h"

namespace aflguard {

namespace {

/// Takes OpenSSL's queued reasons along, so that they do not surface in another error.
Error failed(ErrorKind kind, const std::string& what) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return {kind, code == 0 ? what : what + ": " + text.data()};
}

bool is_p256(const EVP_PKEY* key) {
  std::array<char, 64> group{};
  return EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) == 1 &&
         std::strcmp(group.data(), "prime256v1") == 0;
}

Result<EcdsaSignature> to_raw(std::span<const unsigned char> der) {
  const unsigned char* at = der.data();
  const OpensslSignature parsed(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  EcdsaSignature signature{};
  if (!parsed || BN_bn2binpad(ECDSA_SIG_get0_r(parsed.get()), signature.data(), 32) != 32 ||
      BN_bn2binpad(ECDSA_SIG_get0_s(parsed.get()), signature.data() + 32, 32) != 32) {
    return failed(ErrorKind::kInternal, "OpenSSL's signature cannot be read");
  }
  return signature;
}

}  // namespace

struct OpensslSigner::Key {
  OpensslKey key;
  PublicKey public_key{};

  [[nodiscard]] Status read_public_key() {
    std::size_t size = 0;
    if (EVP_PKEY_set_utf8_string_param(key.get(), OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                       "uncompressed") != 1 ||
        EVP_PKEY_get_octet_string_param(key.get(), OSSL_PKEY_PARAM_PUB_KEY, public_key.data(),
                                        public_key.size(), &size) != 1 ||
        size != public_key.size()) {
      return failed(ErrorKind::kInternal, "the public key cannot be read");
    }
    return {};
  }
};

OpensslSigner::OpensslSigner(std::unique_ptr<Key> key) : key_(std::move(key)) {}
OpensslSigner::OpensslSigner(OpensslSigner&&) noexcept = default;
OpensslSigner& OpensslSigner::operator=(OpensslSigner&&) noexcept = default;
OpensslSigner::~OpensslSigner() = default;

Result<OpensslSigner> OpensslSigner::generate() {
  auto key = std::make_unique<Key>();
  key->key.reset(EVP_EC_gen("P-256"));
  if (!key->key) return failed(ErrorKind::kInternal, "no key can be made");
  TRY_STATUS(key->read_public_key());
  return OpensslSigner(std::move(key));
}

Result<OpensslSigner> OpensslSigner::from_pem(std::string_view pem) {
  auto key = std::make_unique<Key>();
  key->key = private_key_from_pem(pem);
  if (!key->key) return failed(ErrorKind::kInvalidInput, "the private key cannot be read");
  if (!is_p256(key->key.get())) return invalid_input("the private key is not a P-256 key; make a new one");
  TRY_STATUS(key->read_public_key());
  return OpensslSigner(std::move(key));
}

const PublicKey& OpensslSigner::public_key() const {
  return key_->public_key;
}

Result<EcdsaSignature> OpensslSigner::sign(SignedParts parts) {
  const OpensslDigestContext context(EVP_MD_CTX_new());
  bool ok =
      context && EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_->key.get()) == 1;
  for (const auto part : parts) {
    ok = ok && EVP_DigestSignUpdate(context.get(), part.data(), part.size()) == 1;
  }
  std::array<unsigned char, 80> der{};
  std::size_t size = der.size();
  ok = ok && EVP_DigestSignFinal(context.get(), der.data(), &size) == 1;
  if (!ok) return failed(ErrorKind::kInternal, "OpenSSL cannot sign");
  return to_raw(std::span(der).first(size));
}

Result<std::string> OpensslSigner::private_pem() const {
  const OpensslBuffer buffer(BIO_new(BIO_s_mem()));
  char* text = nullptr;
  if (!buffer ||
      PEM_write_bio_PrivateKey(buffer.get(), key_->key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return failed(ErrorKind::kInternal, "the private key cannot be written");
  }
  const long size = BIO_get_mem_data(buffer.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace aflguard
