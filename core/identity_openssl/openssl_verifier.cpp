#include "core/identity_openssl/openssl_verifier.h"

#include <array>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <tuple>

#include "core/identity_openssl/openssl_handles.h"

namespace aflguard {

namespace {

/// Empty when the bytes are not a point of P-256: OpenSSL checks that while importing.
OpensslKey import_key(const PublicKey& key) {
  PublicKey point = key;
  std::array<char, 6> group = {'P', '-', '2', '5', '6', '\0'};
  const std::array<OSSL_PARAM, 3> parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group.data(), 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()),
      OSSL_PARAM_construct_end()};
  const OpensslKeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* imported = nullptr;
  if (context && EVP_PKEY_fromdata_init(context.get()) == 1) {
    EVP_PKEY_fromdata(context.get(), &imported, EVP_PKEY_PUBLIC_KEY,
                      const_cast<OSSL_PARAM*>(parameters.data()));
  }
  return OpensslKey(imported);
}

/// r and s in DER, which is the only form that OpenSSL's EVP takes; 0 bytes on failure.
std::size_t to_der(const EcdsaSignature& signature, std::array<unsigned char, 80>& der) {
  OpensslNumber r(BN_bin2bn(signature.data(), 32, nullptr));
  OpensslNumber s(BN_bin2bn(signature.data() + 32, 32, nullptr));
  const OpensslSignature pair(ECDSA_SIG_new());
  if (!r || !s || !pair || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return 0;
  std::ignore = r.release();  // the pair owns them now
  std::ignore = s.release();
  unsigned char* at = der.data();
  const int size = i2d_ECDSA_SIG(pair.get(), &at);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

}  // namespace

struct OpensslVerifier::ParsedKey {
  OpensslKey key;  ///< empty when the bytes are not a key
};

std::shared_ptr<const OpensslVerifier::ParsedKey> OpensslVerifier::parsed(const PublicKey& key) const {
  constexpr std::size_t kMostKeys = 10'000;  // a few kilobytes each
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = parsed_.find(key); known != parsed_.end()) return known->second;
  }
  auto fresh = std::make_shared<const ParsedKey>(ParsedKey{import_key(key)});
  const std::lock_guard lock(mutex_);
  if (parsed_.size() >= kMostKeys) parsed_.clear();
  parsed_.emplace(key, fresh);
  return fresh;
}

bool OpensslVerifier::verify(const PublicKey& key, SignedParts parts, const EcdsaSignature& signature) const {
  const auto known = parsed(key);
  const OpensslKey& imported = known->key;
  std::array<unsigned char, 80> der{};
  const std::size_t size = to_der(signature, der);
  const OpensslDigestContext context(EVP_MD_CTX_new());
  bool ok = imported && size > 0 && context &&
            EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, imported.get()) == 1;
  for (const auto part : parts) {
    ok = ok && EVP_DigestVerifyUpdate(context.get(), part.data(), part.size()) == 1;
  }
  ok = ok && EVP_DigestVerifyFinal(context.get(), der.data(), size) == 1;
  ERR_clear_error();  // a wrong signature leaves reasons behind that are not asked for
  return ok;
}

}  // namespace aflguard
