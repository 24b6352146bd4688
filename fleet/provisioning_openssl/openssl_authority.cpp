#include "fleet/provisioning_openssl/openssl_authority.h"

#include <algorithm>
#include <array>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <span>

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/identity_openssl/x509_text.h"

namespace aflguard::fleet {

using std::chrono::system_clock;

namespace {

Error library_failed(const std::string& what) {
  return openssl_error(ErrorKind::kInternal, "OpenSSL cannot " + what);
}

Status fill_randomly(std::span<std::uint8_t> bytes) {
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return library_failed("make a random number");
  return {};
}

std::string base64(std::span<const std::uint8_t> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

/// 128 random bits, the highest of them 0 and the next 1: positive, and always of the same length.
Result<std::string> random_serial() {
  std::array<std::uint8_t, 16> bytes{};
  TRY_STATUS(fill_randomly(bytes));
  bytes[0] = static_cast<std::uint8_t>((bytes[0] & 0x3fU) | 0x40U);
  return to_hex(bytes);
}

OpensslInteger serial_from_hex(const std::string& hex) {
  BIGNUM* raw = nullptr;
  if (BN_hex2bn(&raw, hex.c_str()) != static_cast<int>(hex.size())) return nullptr;
  const OpensslNumber number(raw);
  return OpensslInteger(BN_to_ASN1_INTEGER(number.get(), nullptr));
}

Status add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  if (!added) return library_failed("add '" + value + "' to a certificate");
  return {};
}

/// Everything that is the same for the authority and for those it vouches for.
Result<OpensslCertificate> blank(const std::string& name, const std::string& serial, EVP_PKEY* key,
                                 system_clock::time_point not_before, system_clock::time_point not_after) {
  OpensslCertificate made(X509_new());
  const OpensslInteger number = serial_from_hex(serial);
  const OpensslTime first = to_asn1(not_before);
  const OpensslTime last = to_asn1(not_after);
  if (!made || !number || !first || !last || X509_set_version(made.get(), 2) != 1 ||
      X509_set_serialNumber(made.get(), number.get()) != 1 ||
      X509_set1_notBefore(made.get(), first.get()) != 1 || X509_set1_notAfter(made.get(), last.get()) != 1 ||
      X509_set_pubkey(made.get(), key) != 1 ||
      X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) != 1) {
    return library_failed("make a certificate");
  }
  return made;
}

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
  return all;
}

Status describe_use(X509* certificate, X509* issuer, const CertificateOptions& terms) {
  TRY_STATUS(add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE"));
  TRY_STATUS(add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature"));
  TRY_STATUS(add_extension(certificate, issuer, NID_ext_key_usage,
                           terms.use == CertificateUse::kServer ? "serverAuth" : "clientAuth"));
  TRY_STATUS(add_extension(certificate, issuer, NID_subject_key_identifier, "hash"));
  TRY_STATUS(add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always"));
  if (terms.alternative_names.empty()) return {};
  return add_extension(certificate, issuer, NID_subject_alt_name, joined(terms.alternative_names));
}

/// The common name that a request asks for; empty when it asks for none.
std::string requested_name(X509_REQ* request) {
  std::array<char, kMaxIdentifierLength + 2> text{};
  X509_NAME_get_text_by_NID(X509_REQ_get_subject_name(request), NID_commonName, text.data(),
                            static_cast<int>(text.size()));
  return text.data();
}

/// The number of a list; -1 when it has none.
long seed_from_name(const X509_CRL* list) {
  const OpensslInteger number(
      static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(list, NID_crl_number, nullptr, nullptr)));
  return number ? ASN1_INTEGER_get(number.get()) : -1;
}

Status add_number(X509_CRL* list, long number) {
  const OpensslInteger value(ASN1_INTEGER_new());
  if (!value || ASN1_INTEGER_set(value.get(), number) != 1 ||
      X509_CRL_add1_ext_i2d(list, NID_crl_number, value.get(), 0, 0) != 1) {
    return library_failed("number a revocation list");
  }
  return {};
}

Status add_revoked(X509_CRL* list, const std::string& serial, const ASN1_TIME* when) {
  const OpensslInteger number = serial_from_hex(serial);
  X509_REVOKED* entry = X509_REVOKED_new();
  if (!number || entry == nullptr || X509_REVOKED_set_serialNumber(entry, number.get()) != 1 ||
      X509_REVOKED_set_revocationDate(entry, const_cast<ASN1_TIME*>(when)) != 1 ||
      X509_CRL_add0_revoked(list, entry) != 1) {
    X509_REVOKED_free(entry);
    return library_failed("revoke the serial '" + serial + "'");
  }
  return {};
}

}  // namespace

struct OpensslAuthority::State {
  OpensslKey key;
  OpensslCertificate certificate;
  std::string certificate_pem;
  system_clock::time_point not_after;

  [[nodiscard]] Result<IssuedCertificate> sign(EVP_PKEY* subject_key, const CertificateOptions& terms) const;
};

Result<IssuedCertificate> OpensslAuthority::State::sign(EVP_PKEY* subject_key,
                                                        const CertificateOptions& terms) const {
  TRY_STATUS(check_identifier("certificate name", terms.name));
  if (terms.not_after > not_after) {
    return invalid_input("a certificate until " + to_rfc3339(terms.not_after) +
                         " would outlive the fleet's authority, which ends " + to_rfc3339(not_after) +
                         "; choose fewer days");
  }
  IssuedCertificate issued;
  TRY(issued.public_key, public_key_of(subject_key));
  TRY(issued.serial, random_serial());
  TRY(const auto made, blank(terms.name, issued.serial, subject_key, terms.not_before, terms.not_after));
  if (X509_set_issuer_name(made.get(), X509_get_subject_name(certificate.get())) != 1) {
    return library_failed("name the authority");
  }
  TRY_STATUS(describe_use(made.get(), certificate.get(), terms));
  if (X509_sign(made.get(), key.get(), EVP_sha256()) <= 0) return library_failed("sign a certificate");
  issued.pem = to_pem(made.get());
  issued.public_pem = public_to_pem(subject_key);
  issued.not_after = std::chrono::floor<std::chrono::seconds>(terms.not_after);
  if (issued.pem.empty() || issued.public_pem.empty()) return library_failed("write a certificate");
  return issued;
}

OpensslAuthority::OpensslAuthority(std::unique_ptr<State> state) : state_(std::move(state)) {}
OpensslAuthority::OpensslAuthority(OpensslAuthority&&) noexcept = default;
OpensslAuthority& OpensslAuthority::operator=(OpensslAuthority&&) noexcept = default;
OpensslAuthority::~OpensslAuthority() = default;

Result<OpensslAuthority> OpensslAuthority::create(const std::string& name,
                                                  system_clock::time_point not_before,
                                                  system_clock::time_point not_after) {
  auto state = std::make_unique<State>();
  state->key.reset(EVP_EC_gen("P-256"));
  if (!state->key) return library_failed("make a key");
  TRY(const std::string serial, random_serial());
  TRY(state->certificate, blank(name, serial, state->key.get(), not_before, not_after));
  X509* const own = state->certificate.get();
  if (X509_set_issuer_name(own, X509_get_subject_name(own)) != 1) return library_failed("name the authority");
  TRY_STATUS(add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE,pathlen:0"));
  TRY_STATUS(add_extension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign"));
  TRY_STATUS(add_extension(own, own, NID_subject_key_identifier, "hash"));
  if (X509_sign(own, state->key.get(), EVP_sha256()) <= 0) return library_failed("sign a certificate");
  state->certificate_pem = to_pem(own);
  state->not_after = std::chrono::floor<std::chrono::seconds>(not_after);
  return OpensslAuthority(std::move(state));
}

Result<OpensslAuthority> OpensslAuthority::load(std::string_view certificate_pem,
                                                std::string_view private_pem) {
  auto state = std::make_unique<State>();
  state->certificate = certificate_from_pem(certificate_pem);
  if (!state->certificate) {
    return openssl_error(ErrorKind::kInvalidInput, "the authority's certificate cannot be read");
  }
  state->key = private_key_from_pem(private_pem);
  if (!state->key) return openssl_error(ErrorKind::kInvalidInput, "the authority's key cannot be read");
  if (X509_check_private_key(state->certificate.get(), state->key.get()) != 1) {
    return openssl_error(
        ErrorKind::kInvalidInput,
        "the authority's key does not belong to its certificate; restore both from one backup");
  }
  state->certificate_pem = to_pem(state->certificate.get());
  TRY(state->not_after, from_asn1(X509_get0_notAfter(state->certificate.get())));
  return OpensslAuthority(std::move(state));
}

const std::string& OpensslAuthority::certificate_pem() const {
  return state_->certificate_pem;
}

system_clock::time_point OpensslAuthority::not_after() const {
  return state_->not_after;
}

Result<Credential> OpensslAuthority::issue(const CertificateOptions& terms) {
  const OpensslKey key(EVP_EC_gen("P-256"));
  if (!key) return library_failed("make a key");
  Credential credential;
  TRY(credential.certificate, state_->sign(key.get(), terms));
  credential.private_pem = private_to_pem(key.get());
  if (credential.private_pem.empty()) return library_failed("write a key");
  return credential;
}

Result<IssuedCertificate> OpensslAuthority::issue_for_key(std::string_view private_pem,
                                                          const CertificateOptions& terms) {
  const OpensslKey key = private_key_from_pem(private_pem);
  if (!key) return openssl_error(ErrorKind::kInvalidInput, "the private key cannot be read");
  return state_->sign(key.get(), terms);
}

Result<PublicKey> OpensslAuthority::requested_key(std::string_view request_pem) {
  const OpensslRequest request = request_from_pem(request_pem);
  if (!request) {
    return openssl_error(ErrorKind::kInvalidInput, "it is not a certificate signing request in PEM");
  }
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
  TRY(const PublicKey usable, public_key_of(key));
  if (X509_REQ_verify(request.get(), key) != 1) {
    return openssl_error(ErrorKind::kInvalidInput,
                         "the request's signature is wrong: it was damaged, or its maker lacks the key");
  }
  return usable;
}

Result<IssuedCertificate> OpensslAuthority::issue_for_request(std::string_view request_pem,
                                                              const CertificateOptions& terms) {
  TRY([[maybe_unused]] const PublicKey usable, requested_key(request_pem));
  const OpensslRequest request = request_from_pem(request_pem);
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
  const std::string name = requested_name(request.get());
  if (!name.empty() && name != terms.name) {
    return invalid_input("the request is for '" + (is_identifier(name) ? name : "(no name)") +
                         "', not for '" + terms.name + "'; use the request that this device made");
  }
  return state_->sign(key, terms);
}

Result<std::string> OpensslAuthority::new_password() {
  std::array<std::uint8_t, 24> bytes{};
  TRY_STATUS(fill_randomly(bytes));
  std::string text = base64(bytes);  // a multiple of three bytes: no padding
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

Result<std::string> OpensslAuthority::password_verifier(std::string_view password) {
  // Mosquitto's own form and effort. Passwords are random here: more rounds would protect nothing.
  constexpr int kRounds = 101;
  std::array<std::uint8_t, 12> salt{};
  std::array<std::uint8_t, 64> hash{};
  TRY_STATUS(fill_randomly(salt));
  if (PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), salt.data(),
                        static_cast<int>(salt.size()), kRounds, EVP_sha512(), static_cast<int>(hash.size()),
                        hash.data()) != 1) {
    return library_failed("hash a password");
  }
  return "$7$" + std::to_string(kRounds) + "$" + base64(salt) + "$" + base64(hash);
}

Result<std::string> OpensslAuthority::revocation_list(std::span<const std::string> serials,
                                                      std::string_view previous_pem,
                                                      system_clock::time_point now) {
  long number = 1;
  system_clock::time_point date = now;
  if (const OpensslCrl previous = crl_from_pem(previous_pem); previous) {
    number = seed_from_name(previous.get()) + 1;
    TRY(const auto earlier, from_asn1(X509_CRL_get0_lastUpdate(previous.get())));
    date = std::max(date, earlier + std::chrono::seconds(1));
  }
  ERR_clear_error();  // no previous list is not a failure
  const OpensslCrl list(X509_CRL_new());
  const OpensslTime first = to_asn1(date);
  const OpensslTime last = to_asn1(state_->not_after);
  if (!list || !first || !last || X509_CRL_set_version(list.get(), 1) != 1 ||
      X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(state_->certificate.get())) != 1 ||
      X509_CRL_set1_lastUpdate(list.get(), first.get()) != 1 ||
      X509_CRL_set1_nextUpdate(list.get(), last.get()) != 1) {
    return library_failed("make a revocation list");
  }
  TRY_STATUS(add_number(list.get(), number));
  for (const std::string& serial : serials) TRY_STATUS(add_revoked(list.get(), serial, first.get()));
  X509_CRL_sort(list.get());
  if (X509_CRL_sign(list.get(), state_->key.get(), EVP_sha256()) <= 0) {
    return library_failed("sign a revocation list");
  }
  std::string pem = to_pem(list.get());
  if (pem.empty()) return library_failed("write a revocation list");
  return pem;
}

Result<std::string> OpensslAuthority::private_pem() const {
  std::string pem = private_to_pem(state_->key.get());
  if (pem.empty()) return library_failed("write a key");
  return pem;
}

}  // namespace aflguard::fleet
