#include <filesystem>

#include "core/identity/certificate.h"
#include "core/identity_mbedtls/mbedtls_certificate.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/test.h"
#include "tests/support/test_certificates.h"

using namespace aflguard;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

std::string text_of(const std::filesystem::path& path) {
  return read_text_file(path).value();
}

}  // namespace

TEST("A certificate gives its owner's name, key and dates; the key is the one of its private key") {
  const TemporaryFolder folder;
  TestAuthority authority(folder.path(), "authority");
  const auto files = authority.issue("board-17", CertificateUse::kClient, {}, 3600);
  const auto certificate = read_certificate_pem(text_of(files.certificate));
  ASSERT_OK(certificate);
  TEST_ASSERT_EQUAL_STRING("board-17", certificate->common_name.c_str());
  const auto signer = MbedtlsSigner::from_pem(text_of(files.key));
  ASSERT_OK(signer);
  TEST_ASSERT_TRUE(signer->public_key() == certificate->public_key);
  const auto now = std::chrono::system_clock::now();
  TEST_ASSERT_TRUE(certificate->not_before < now);
  TEST_ASSERT_TRUE(certificate->not_after > now + 3500s && certificate->not_after < now + 3700s);
}

TEST("A certificate of another authority is told apart; one that has ended is still ours") {
  const TemporaryFolder folder;
  TestAuthority ours(folder.path(), "ours");
  TestAuthority theirs(folder.path(), "theirs");
  const std::string certificate = text_of(ours.issue("a", CertificateUse::kClient).certificate);
  const std::string ended = text_of(ours.issue("a", CertificateUse::kClient, {}, -60).certificate);
  ASSERT_OK(check_issuer(certificate, text_of(ours.certificate())));
  ASSERT_OK(check_issuer(ended, text_of(ours.certificate())));
  ASSERT_CONTAINS(message_of(check_issuer(certificate, text_of(theirs.certificate()))), "was not issued by");
  ASSERT_CONTAINS(message_of(check_issuer(certificate, "nonsense")), "the authority");
}

TEST("What is not a certificate is refused") {
  for (const char* text : {"", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
    TEST_ASSERT_TRUE(read_certificate_pem(text).error().kind == ErrorKind::kInvalidInput);
  }
}

TEST("A file of public keys gives each of them, and refuses one that is none") {
  const TemporaryFolder folder;
  TestAuthority authority(folder.path(), "authority");
  std::string both;
  std::vector<PublicKey> expected;
  for (int i = 0; i < 2; ++i) {
    const auto files = authority.issue("gateway", CertificateUse::kClient);
    const auto outcome =
        run_program({"openssl", "pkey", "-in", files.key.string(), "-pubout"}, folder.path());
    ASSERT_OK(outcome);
    both += outcome->output + "\n# the next one\n";
    expected.push_back(read_certificate_pem(text_of(files.certificate))->public_key);
  }
  const auto keys = read_public_keys_pem(both);
  ASSERT_OK(keys);
  TEST_ASSERT_TRUE(*keys == expected);
  ASSERT_CONTAINS(message_of(read_public_keys_pem("")), "no public key");
  ASSERT_CONTAINS(message_of(read_public_keys_pem(both.substr(0, 60))), "does not end");
  std::string damaged = both;
  damaged[40] = damaged[40] == 'A' ? 'B' : 'A';
  TEST_ASSERT_FALSE(read_public_keys_pem(damaged).ok());
}

TEST("A request names its owner and proves that the key is his") {
  const TemporaryFolder folder;
  const auto signer = MbedtlsSigner::generate();
  ASSERT_OK(signer);
  const auto request = make_certificate_request(*signer, "board-17");
  ASSERT_OK(request);
  ASSERT_OK(write_file_atomically(folder / "a.csr", *request));
  const auto outcome =
      run_program({"openssl", "req", "-in", "a.csr", "-noout", "-verify", "-subject"}, folder.path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
  ASSERT_CONTAINS(outcome->output, "board-17");
  ASSERT_CONTAINS(message_of(make_certificate_request(*signer, "a,O=b")), "common name");
}
