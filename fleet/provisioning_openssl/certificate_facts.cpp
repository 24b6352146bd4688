#include "fleet/provisioning_openssl/certificate_facts.h"

#include <array>
#include <openssl/err.h>

#include "core/identity_openssl/x509_text.h"

namespace aflguard::fleet {
namespace {

bool signed_by(const X509* authority, X509* certificate) {
  EVP_PKEY* const key = X509_get0_pubkey(authority);
  const bool good = key != nullptr && X509_verify(certificate, key) == 1;
  ERR_clear_error();
  return good;
}

}  // namespace

Result<CertificateFacts> read_certificate_facts(std::string_view certificate_pem,
                                                std::string_view authority_pem) {
  const OpensslCertificate certificate = certificate_from_pem(certificate_pem);
  const OpensslCertificate authority = certificate_from_pem(authority_pem);
  ERR_clear_error();
  if (!certificate) return invalid_input("it is not a certificate");
  if (!authority) return invalid_input("the authority's is not a certificate");
  CertificateFacts facts;
  std::array<char, 128> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name.data(),
                            static_cast<int>(name.size()));
  facts.name = name.data();
  TRY(facts.not_before, from_asn1(X509_get0_notBefore(certificate.get())));
  TRY(facts.not_after, from_asn1(X509_get0_notAfter(certificate.get())));
  facts.of_authority = signed_by(authority.get(), certificate.get());
  return facts;
}

bool belong_together(std::string_view certificate_pem, std::string_view private_pem) {
  const OpensslCertificate certificate = certificate_from_pem(certificate_pem);
  const OpensslKey key = private_key_from_pem(private_pem);
  const bool same = certificate && key && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return same;
}

Result<RevocationFacts> read_revocation_facts(std::string_view list_pem, std::string_view authority_pem) {
  const OpensslCrl list = crl_from_pem(list_pem);
  const OpensslCertificate authority = certificate_from_pem(authority_pem);
  ERR_clear_error();
  if (!list) return invalid_input("it is not a revocation list");
  if (!authority) return invalid_input("the authority's is not a certificate");
  RevocationFacts facts;
  TRY(facts.made, from_asn1(X509_CRL_get0_lastUpdate(list.get())));
  TRY(facts.next, from_asn1(X509_CRL_get0_nextUpdate(list.get())));
  const auto* revoked = X509_CRL_get_REVOKED(list.get());
  facts.revoked = revoked == nullptr ? 0 : static_cast<std::size_t>(sk_X509_REVOKED_num(revoked));
  facts.of_authority = X509_CRL_verify(list.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return facts;
}

}  // namespace aflguard::fleet
