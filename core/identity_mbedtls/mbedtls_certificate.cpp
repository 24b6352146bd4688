#include "core/identity_mbedtls/mbedtls_certificate.h"

#include <cstring>
#include <ctime>
#include <mbedtls/oid.h>
#include <mbedtls/x509_crt.h>
#include <mbedtls/x509_csr.h>

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/identity_mbedtls/mbedtls_key.h"

namespace aflguard {
namespace {

/// A chain of certificates that frees itself.
struct Chain {
  Chain() { mbedtls_x509_crt_init(&certificates); }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;
  ~Chain() { mbedtls_x509_crt_free(&certificates); }

  [[nodiscard]] Status parse(std::string_view pem) {
    const std::string terminated(pem);  // Mbed TLS wants PEM with its final zero
    const auto* bytes = reinterpret_cast<const unsigned char*>(terminated.c_str());
    const int code = mbedtls_x509_crt_parse(&certificates, bytes, terminated.size() + 1);
    if (code < 0) return mbedtls_failure(ErrorKind::kInvalidInput, "no certificate in PEM", code);
    if (code > 0) return invalid_input(std::to_string(code) + " certificates cannot be read");
    return {};
  }

  mbedtls_x509_crt certificates;
};

std::chrono::system_clock::time_point moment(const mbedtls_x509_time& time) {
  std::tm parts{};
  parts.tm_year = time.year - 1900;
  parts.tm_mon = time.mon - 1;
  parts.tm_mday = time.day;
  parts.tm_hour = time.hour;
  parts.tm_min = time.min;
  parts.tm_sec = time.sec;
  return nearest_system_time(std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts))));
}

std::string common_name(const mbedtls_x509_name& subject) {
  for (const mbedtls_x509_name* part = &subject; part != nullptr; part = part->next) {
    if (part->oid.p != nullptr && MBEDTLS_OID_CMP(MBEDTLS_OID_AT_CN, &part->oid) == 0) {
      return {reinterpret_cast<const char*>(part->val.p), part->val.len};
    }
  }
  return {};
}

}  // namespace

Result<Certificate> read_certificate_pem(std::string_view pem) {
  Chain chain;
  TRY_STATUS(chain.parse(pem));
  Certificate certificate;
  certificate.common_name = common_name(chain.certificates.subject);
  if (certificate.common_name.empty()) return invalid_input("the certificate has no common name");
  TRY(certificate.public_key, p256_public_key(chain.certificates.pk, "the certificate's key"));
  certificate.not_before = moment(chain.certificates.valid_from);
  certificate.not_after = moment(chain.certificates.valid_to);
  return certificate;
}

Status check_issuer(std::string_view pem, std::string_view authorities) {
  Chain chain;
  TRY_STATUS(chain.parse(pem));
  Chain trusted;
  if (Status status = trusted.parse(authorities); !status.ok()) return at("the authority", status.error());
  std::uint32_t flags = 0;
  const int code = mbedtls_x509_crt_verify(&chain.certificates, &trusted.certificates, nullptr, nullptr,
                                           &flags, nullptr, nullptr);
  constexpr std::uint32_t kDates = MBEDTLS_X509_BADCERT_EXPIRED | MBEDTLS_X509_BADCERT_FUTURE;
  if (code == 0 || (code == MBEDTLS_ERR_X509_CERT_VERIFY_FAILED && (flags & ~kDates) == 0)) return {};
  return invalid_input("the certificate was not issued by this fleet's authority");
}

Result<std::vector<PublicKey>> read_public_keys_pem(std::string_view pem) {
  static constexpr std::string_view kBegin = "-----BEGIN PUBLIC KEY-----";
  static constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";
  std::vector<PublicKey> keys;
  for (std::size_t start = pem.find(kBegin); start != std::string_view::npos;
       start = pem.find(kBegin, start)) {
    const std::size_t end = pem.find(kEnd, start);
    if (end == std::string_view::npos) return invalid_input("a public key in PEM does not end");
    const std::string block(pem.substr(start, end + kEnd.size() - start));
    start = end;
    mbedtls_pk_context pk;
    mbedtls_pk_init(&pk);
    const std::string terminated = block + "\n";
    const int code = mbedtls_pk_parse_public_key(
        &pk, reinterpret_cast<const unsigned char*>(terminated.c_str()), terminated.size() + 1);
    auto key = code == 0 ? p256_public_key(pk, "the public key")
                         : mbedtls_failure(ErrorKind::kInvalidInput, "a public key cannot be read", code);
    mbedtls_pk_free(&pk);
    if (!key.ok()) return key.error();
    keys.push_back(*key);
  }
  if (keys.empty()) return invalid_input("no public key in PEM");
  return keys;
}

Result<std::string> make_certificate_request(const MbedtlsSigner& key, const std::string& common_name) {
  // An identifier needs no escaping in a subject.
  TRY_STATUS(check_identifier("common name", common_name));
  mbedtls_x509write_csr request;
  mbedtls_x509write_csr_init(&request);
  mbedtls_x509write_csr_set_md_alg(&request, MBEDTLS_MD_SHA256);
  mbedtls_x509write_csr_set_key(&request, &key.key_->pk);
  std::array<unsigned char, 2048> pem{};
  int code = mbedtls_x509write_csr_set_subject_name(&request, ("CN=" + common_name).c_str());
  if (code == 0) {
    code = mbedtls_x509write_csr_pem(&request, pem.data(), pem.size(), mbedtls_ctr_drbg_random,
                                     &key.key_->random);
  }
  mbedtls_x509write_csr_free(&request);
  if (code != 0) {
    return mbedtls_failure(ErrorKind::kInternal, "no certificate request can be made", code);
  }
  return std::string(reinterpret_cast<const char*>(pem.data()));
}

}  // namespace aflguard
