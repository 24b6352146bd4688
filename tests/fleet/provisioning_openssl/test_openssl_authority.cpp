#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "core/base/rfc3339.h"
#include "core/identity_openssl/x509_text.h"
#include "fleet/provisioning_openssl/openssl_authority.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
using namespace std::chrono_literals;

namespace {

const auto kNow = parse_rfc3339("2026-03-01T12:00:00Z").value();

OpensslAuthority authority() {
  return OpensslAuthority::create("fleet", kNow - 10min, kNow + std::chrono::days(100)).value();
}

CertificateOptions terms(CertificateUse use = CertificateUse::kClient) {
  return {"pi-1", use, {"URI:urn:aflguard:f:pi-1"}, kNow - 10min, kNow + std::chrono::days(10)};
}

/// OpenSSL's own judgement at a moment; empty when all is well.
std::string problem(const std::string& certificate_pem, const std::string& authority_pem,
                    const std::string& list_pem, int purpose, std::chrono::system_clock::time_point when) {
  const auto certificate = certificate_from_pem(certificate_pem);
  const auto root = certificate_from_pem(authority_pem);
  X509_STORE* const store = X509_STORE_new();
  X509_STORE_add_cert(store, root.get());
  X509_STORE_CTX* const context = X509_STORE_CTX_new();
  if (!list_pem.empty()) X509_STORE_add_crl(store, crl_from_pem(list_pem).get());
  X509_STORE_CTX_init(context, store, certificate.get(), nullptr);
  X509_STORE_CTX_set_purpose(context, purpose);
  X509_STORE_CTX_set_flags(context, list_pem.empty() ? 0 : X509_V_FLAG_CRL_CHECK);
  X509_STORE_CTX_set_time(context, 0, std::chrono::system_clock::to_time_t(when));
  const bool valid = X509_verify_cert(context) == 1;
  const std::string text = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context));
  X509_STORE_CTX_free(context);
  X509_STORE_free(store);
  return valid ? "" : text;
}

std::string request(const char* name, EVP_PKEY* key, EVP_PKEY* signer) {
  X509_REQ* const made = X509_REQ_new();
  X509_REQ_set_pubkey(made, key);
  if (name != nullptr) {
    X509_NAME_add_entry_by_txt(X509_REQ_get_subject_name(made), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  }
  X509_REQ_sign(made, signer, EVP_sha256());
  BIO* const out = BIO_new(BIO_s_mem());
  PEM_write_bio_X509_REQ(out, made);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out, &text);
  std::string pem(text, static_cast<std::size_t>(size));
  BIO_free(out);
  X509_REQ_free(made);
  return pem;
}

}  // namespace

TEST("A certificate is good for its purpose and its time only") {
  auto ca = authority();
  const auto client = ca.issue(terms());
  ASSERT_OK(client);
  const auto& pem = client->certificate.pem;
  TEST_ASSERT_EQUAL_STRING("", problem(pem, ca.certificate_pem(), "", X509_PURPOSE_SSL_CLIENT, kNow).c_str());
  TEST_ASSERT_EQUAL_STRING(
      "", problem(pem, ca.certificate_pem(), "", X509_PURPOSE_SSL_CLIENT, kNow - 9min).c_str());
  ASSERT_CONTAINS(problem(pem, ca.certificate_pem(), "", X509_PURPOSE_SSL_CLIENT, kNow - 11min), "not yet");
  ASSERT_CONTAINS(
      problem(pem, ca.certificate_pem(), "", X509_PURPOSE_SSL_CLIENT, kNow + std::chrono::days(11)),
      "expired");
  ASSERT_CONTAINS(problem(pem, ca.certificate_pem(), "", X509_PURPOSE_SSL_SERVER, kNow), "purpose");
  auto other = authority();
  TEST_ASSERT_FALSE(problem(pem, other.certificate_pem(), "", X509_PURPOSE_SSL_CLIENT, kNow).empty());
  const auto server = ca.issue(terms(CertificateUse::kServer));
  ASSERT_CONTAINS(problem(server->certificate.pem, ca.certificate_pem(), "", X509_PURPOSE_SSL_CLIENT, kNow),
                  "purpose");
}

TEST("Serials and keys are new every time, and what is issued says what it is") {
  auto ca = authority();
  const auto first = ca.issue(terms());
  const auto second = ca.issue(terms());
  TEST_ASSERT_EQUAL_size_t(32, first->certificate.serial.size());
  TEST_ASSERT_TRUE(first->certificate.serial != second->certificate.serial);
  TEST_ASSERT_TRUE(first->certificate.public_key != second->certificate.public_key);
  TEST_ASSERT_TRUE(first->certificate.not_after == kNow + std::chrono::days(10));
  ASSERT_CONTAINS(first->certificate.public_pem, "BEGIN PUBLIC KEY");
  const auto renewed = ca.issue_for_key(first->private_pem, terms());
  ASSERT_OK(renewed);
  TEST_ASSERT_TRUE(renewed->public_key == first->certificate.public_key);
}

TEST("An authority that was saved goes on where it was") {
  auto ca = authority();
  auto loaded = OpensslAuthority::load(ca.certificate_pem(), ca.private_pem().value());
  ASSERT_OK(loaded);
  const auto issued = loaded->issue(terms());
  ASSERT_OK(issued);
  TEST_ASSERT_EQUAL_STRING(
      "", problem(issued->certificate.pem, ca.certificate_pem(), "", X509_PURPOSE_SSL_CLIENT, kNow).c_str());
  TEST_ASSERT_TRUE(loaded->not_after() == ca.not_after());
  ASSERT_CONTAINS(
      testing::message_of(OpensslAuthority::load(authority().certificate_pem(), ca.private_pem().value())),
      "does not belong to its certificate");
  ASSERT_CONTAINS(testing::message_of(OpensslAuthority::load("x", "y")), "certificate cannot be read");
  ASSERT_CONTAINS(testing::message_of(OpensslAuthority::load(ca.certificate_pem(), "y")),
                  "key cannot be read");
}

TEST("Nothing is issued that would outlive the authority, or under a name that is none") {
  auto ca = authority();
  CertificateOptions late = terms();
  late.not_after = kNow + std::chrono::days(101);
  ASSERT_CONTAINS(testing::message_of(ca.issue(late)), "would outlive the fleet's authority");
  CertificateOptions nameless = terms();
  nameless.name = "a/b";
  ASSERT_CONTAINS(testing::message_of(ca.issue(nameless)), "is not a name");
}

TEST("A revocation list names the revoked, is newer than the one before, and counts") {
  auto ca = authority();
  const auto bad = ca.issue(terms());
  const auto good = ca.issue(terms());
  const auto empty = ca.revocation_list({}, {}, kNow);
  ASSERT_OK(empty);
  const std::vector<std::string> serials = {bad->certificate.serial};
  const auto list = ca.revocation_list(serials, *empty, kNow - 1h);  // the clock went back
  ASSERT_OK(list);
  const auto says = [&](const auto& credential, const std::string& crl) {
    return problem(credential->certificate.pem, ca.certificate_pem(), crl, X509_PURPOSE_SSL_CLIENT,
                   kNow + 1min);
  };
  TEST_ASSERT_EQUAL_STRING("", says(bad, *empty).c_str());
  ASSERT_CONTAINS(says(bad, *list), "revoked");
  TEST_ASSERT_EQUAL_STRING("", says(good, *list).c_str());
  const auto date = from_asn1(X509_CRL_get0_lastUpdate(crl_from_pem(*list).get()));
  ASSERT_OK(date);
  TEST_ASSERT_TRUE(*date == kNow + 1s);
  TEST_ASSERT_FALSE(ca.revocation_list(std::vector<std::string>{"xyz"}, {}, kNow).ok());
}

TEST("A request gets a certificate for its key under the name that was asked for") {
  auto ca = authority();
  const OpensslKey key(EVP_EC_gen("P-256"));
  for (const char* name : {"pi-1", static_cast<const char*>(nullptr)}) {
    const auto issued = ca.issue_for_request(request(name, key.get(), key.get()), terms());
    ASSERT_OK(issued);
    TEST_ASSERT_TRUE(issued->public_key == public_key_of(key.get()).value());
  }
}

TEST("A request for another name, with a foreign signature, of another kind of key, or damaged is refused") {
  auto ca = authority();
  const OpensslKey key(EVP_EC_gen("P-256"));
  const OpensslKey other(EVP_EC_gen("P-256"));
  const OpensslKey large(EVP_EC_gen("P-384"));
  const auto refuse = [&](const std::string& pem) {
    return testing::message_of(ca.issue_for_request(pem, terms()));
  };
  ASSERT_CONTAINS(refuse(request("pi-2", key.get(), key.get())), "is for 'pi-2', not for 'pi-1'");
  ASSERT_CONTAINS(refuse(request("pi-1", key.get(), other.get())), "signature is wrong");
  ASSERT_CONTAINS(refuse(request("pi-1", large.get(), large.get())), "not a P-256 key");
  ASSERT_CONTAINS(refuse("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n"), "not a certificate signing request");
  ASSERT_CONTAINS(refuse(""), "not a certificate signing request");
}
