#include "core/identity_openssl/x509_text.h"

#include <array>
#include <cstring>
#include <ctime>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "core/base/rfc3339.h"

namespace aflguard {

namespace {

std::string content(BIO* buffer) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(buffer, &text);
  return {text, static_cast<std::size_t>(size)};
}

template <typename Write>
std::string written(Write write) {
  const OpensslBuffer buffer(BIO_new(BIO_s_mem()));
  if (!buffer || write(buffer.get()) != 1) return {};
  return content(buffer.get());
}

OpensslBuffer reader(std::string_view text) {
  return OpensslBuffer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int no_passphrase(char*, int, int, void*) {
  return 0;
}

}  // namespace

Error openssl_error(ErrorKind kind, const std::string& what) {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return {kind, code == 0 ? what : what + ": " + text.data()};
}

std::string to_pem(const X509* certificate) {
  return written([&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

std::string to_pem(const X509_CRL* list) {
  return written([&](BIO* out) { return PEM_write_bio_X509_CRL(out, list); });
}

std::string private_to_pem(const EVP_PKEY* key) {
  return written(
      [&](BIO* out) { return PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

std::string public_to_pem(const EVP_PKEY* key) {
  return written([&](BIO* out) { return PEM_write_bio_PUBKEY(out, key); });
}

OpensslCertificate certificate_from_pem(std::string_view pem) {
  return OpensslCertificate(PEM_read_bio_X509(reader(pem).get(), nullptr, no_passphrase, nullptr));
}

OpensslRequest request_from_pem(std::string_view pem) {
  return OpensslRequest(PEM_read_bio_X509_REQ(reader(pem).get(), nullptr, no_passphrase, nullptr));
}

OpensslCrl crl_from_pem(std::string_view pem) {
  return OpensslCrl(PEM_read_bio_X509_CRL(reader(pem).get(), nullptr, no_passphrase, nullptr));
}

OpensslKey private_key_from_pem(std::string_view pem) {
  return OpensslKey(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, no_passphrase, nullptr));
}

Result<PublicKey> public_key_from_pem(std::string_view pem) {
  const OpensslKey key(PEM_read_bio_PUBKEY(reader(pem).get(), nullptr, no_passphrase, nullptr));
  if (!key) return openssl_error(ErrorKind::kInvalidInput, "this is not a public key");
  return public_key_of(key.get());
}

Result<PublicKey> public_key_of(EVP_PKEY* key) {
  std::array<char, 64> group{};
  if (key == nullptr || EVP_PKEY_get_group_name(key, group.data(), group.size(), nullptr) != 1 ||
      std::strcmp(group.data(), "prime256v1") != 0) {
    return openssl_error(ErrorKind::kInvalidInput, "the key is not a P-256 key; make a new one");
  }
  PublicKey point{};
  std::size_t size = 0;
  if (EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed") != 1 ||
      EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size(), &size) != 1 ||
      size != point.size()) {
    return openssl_error(ErrorKind::kInvalidInput, "the public key cannot be read");
  }
  return point;
}

OpensslTime to_asn1(std::chrono::system_clock::time_point time) {
  return OpensslTime(ASN1_TIME_set(nullptr, std::chrono::system_clock::to_time_t(time)));
}

Result<std::chrono::system_clock::time_point> from_asn1(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) {
    return openssl_error(ErrorKind::kInvalidInput, "a time cannot be read");
  }
  return nearest_system_time(std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts))));
}

}  // namespace aflguard
