#include "tests/support/test_certificates.h"

#include <cstdio>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "core/base/check.h"

namespace aflguard::testing {

namespace {

template <auto free_function>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    free_function(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using File = std::unique_ptr<std::FILE, Free<std::fclose>>;
using RevocationList = std::unique_ptr<X509_CRL, Free<X509_CRL_free>>;
using Time = std::unique_ptr<ASN1_TIME, Free<ASN1_TIME_free>>;

void write_pem(const std::filesystem::path& path, X509* certificate) {
  const File file(std::fopen(path.c_str(), "w"));
  check(file && PEM_write_X509(file.get(), certificate) == 1, "a certificate can be written");
}

void write_pem(const std::filesystem::path& path, EVP_PKEY* key) {
  const File file(std::fopen(path.c_str(), "w"));
  check(file && PEM_write_PrivateKey(file.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
        "a key can be written");
  std::filesystem::permissions(path,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  check(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, "an extension can be added");
  X509_EXTENSION_free(extension);
}

Certificate blank(const std::string& common_name, EVP_PKEY* key, long serial, long seconds) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  constexpr long kDay = 86'400;
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -2 * kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), seconds);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return certificate;
}

}  // namespace

struct TestAuthority::State {
  std::filesystem::path folder;
  std::string name;
  Key key;
  Certificate certificate;
  long last_serial = 1;
};

TestAuthority::TestAuthority(std::filesystem::path folder, const std::string& name)
    : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->name = name;
  state_->key.reset(EVP_EC_gen("P-256"));
  state_->certificate = blank(name, state_->key.get(), 1, 86'400);
  X509* const certificate = state_->certificate.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  check(X509_sign(certificate, state_->key.get(), EVP_sha256()) > 0, "an authority can sign itself");
  write_pem(this->certificate(), certificate);
}

TestAuthority::~TestAuthority() = default;

std::filesystem::path TestAuthority::certificate() const {
  return state_->folder / (state_->name + ".crt");
}

CertificateFiles TestAuthority::issue(const std::string& common_name, CertificateUse use,
                                      const std::string& names, long seconds) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = blank(common_name, key.get(), ++state_->last_serial, seconds);
  X509* const issuer = state_->certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer));
  add_extension(certificate.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate.get(), issuer, NID_ext_key_usage,
                use == CertificateUse::kServer ? "serverAuth" : "clientAuth");
  if (!names.empty()) add_extension(certificate.get(), issuer, NID_subject_alt_name, names);
  check(X509_sign(certificate.get(), state_->key.get(), EVP_sha256()) > 0, "a certificate can be signed");
  const std::string stem = state_->name + "-" + std::to_string(state_->last_serial);
  CertificateFiles files{state_->folder / (stem + ".crt"), state_->folder / (stem + ".key")};
  write_pem(files.certificate, certificate.get());
  write_pem(files.key, key.get());
  return files;
}

std::filesystem::path TestAuthority::revocations() const {
  return state_->folder / (state_->name + ".crl");
}

void TestAuthority::write_revocations(const std::vector<CertificateFiles>& revoked) {
  const RevocationList list(X509_CRL_new());
  const Time now(X509_gmtime_adj(nullptr, -60));
  const Time later(X509_gmtime_adj(nullptr, 86'400));
  X509_CRL_set_version(list.get(), 1);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(state_->certificate.get()));
  X509_CRL_set1_lastUpdate(list.get(), now.get());
  X509_CRL_set1_nextUpdate(list.get(), later.get());
  for (const CertificateFiles& files : revoked) {
    const File file(std::fopen(files.certificate.c_str(), "r"));
    const Certificate certificate(PEM_read_X509(file.get(), nullptr, nullptr, nullptr));
    X509_REVOKED* entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate.get()));
    X509_REVOKED_set_revocationDate(entry, now.get());
    X509_CRL_add0_revoked(list.get(), entry);
  }
  X509_CRL_sort(list.get());
  check(X509_CRL_sign(list.get(), state_->key.get(), EVP_sha256()) > 0, "a revocation list can be signed");
  const File file(std::fopen(revocations().c_str(), "w"));
  check(file && PEM_write_X509_CRL(file.get(), list.get()) == 1, "a revocation list can be written");
}

}  // namespace aflguard::testing
