#pragma once

#include <chrono>
#include <openssl/asn1.h>
#include <openssl/x509.h>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/identity/signature.h"
#include "core/identity_openssl/openssl_handles.h"

namespace aflguard {

using OpensslCertificate = std::unique_ptr<X509, OpensslFree<X509_free>>;
using OpensslRequest = std::unique_ptr<X509_REQ, OpensslFree<X509_REQ_free>>;
using OpensslCrl = std::unique_ptr<X509_CRL, OpensslFree<X509_CRL_free>>;
using OpensslInteger = std::unique_ptr<ASN1_INTEGER, OpensslFree<ASN1_INTEGER_free>>;
using OpensslTime = std::unique_ptr<ASN1_TIME, OpensslFree<ASN1_TIME_free>>;

/// An error that takes OpenSSL's queued reasons along, so that they do not surface in another.
[[nodiscard]] Error openssl_error(ErrorKind kind, const std::string& what);

/// Objects to PEM; empty when OpenSSL fails.
[[nodiscard]] std::string to_pem(const X509* certificate);
[[nodiscard]] std::string to_pem(const X509_CRL* list);
[[nodiscard]] std::string private_to_pem(const EVP_PKEY* key);
[[nodiscard]] std::string public_to_pem(const EVP_PKEY* key);

/// PEM to objects; null when it is something else.
[[nodiscard]] OpensslCertificate certificate_from_pem(std::string_view pem);
[[nodiscard]] OpensslRequest request_from_pem(std::string_view pem);
[[nodiscard]] OpensslCrl crl_from_pem(std::string_view pem);
/// Never asks for a passphrase.
[[nodiscard]] OpensslKey private_key_from_pem(std::string_view pem);

/// The "PUBLIC KEY" block of a PEM text; kInvalidInput when there is none, or it is not a P-256 key.
[[nodiscard]] Result<PublicKey> public_key_from_pem(std::string_view pem);

/// kInvalidInput when it is not a P-256 key.
[[nodiscard]] Result<PublicKey> public_key_of(EVP_PKEY* key);

[[nodiscard]] OpensslTime to_asn1(std::chrono::system_clock::time_point time);
/// kInvalidInput when the time is none.
[[nodiscard]] Result<std::chrono::system_clock::time_point> from_asn1(const ASN1_TIME* time);

}  // namespace aflguard
