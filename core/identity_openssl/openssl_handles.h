#pragma once

#include <memory>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>

namespace aflguard {

/// Calls one of OpenSSL's free functions: a unique_ptr for each of its types.
template <auto free_function>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};

using OpensslKey = std::unique_ptr<EVP_PKEY, OpensslFree<EVP_PKEY_free>>;
using OpensslKeyContext = std::unique_ptr<EVP_PKEY_CTX, OpensslFree<EVP_PKEY_CTX_free>>;
using OpensslDigestContext = std::unique_ptr<EVP_MD_CTX, OpensslFree<EVP_MD_CTX_free>>;
using OpensslSignature = std::unique_ptr<ECDSA_SIG, OpensslFree<ECDSA_SIG_free>>;
using OpensslNumber = std::unique_ptr<BIGNUM, OpensslFree<BN_free>>;
using OpensslBuffer = std::unique_ptr<BIO, OpensslFree<BIO_free_all>>;

}  // namespace aflguard
