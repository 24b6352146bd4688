#include <cstdlib>
#include <filesystem>

#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "core/system/atomic_file.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

const std::filesystem::path kGolden = testing::source_folder() / "tests/golden/envelope";

MbedtlsSigner golden_signer() {
  return MbedtlsSigner::from_pem(read_text_file(kGolden / "device-key.pem").value()).value();
}

VerdictMessage verdict_with_model() {
  VerdictMessage verdict = sample_verdict();
  verdict.model = sample_model();
  return verdict;
}

/// Seals with Mbed TLS, whose signatures are deterministic: the file's bytes must come out again.
/// AFLGUARD_WRITE_GOLDEN=1 writes the files instead, after a change of format and of docs/wire-format.md.
void assert_golden(const std::string& name, const Result<Payload>& payload) {
  ASSERT_OK(payload);
  MbedtlsSigner signer = golden_signer();
  const auto sealed = EnvelopeSealer(signer).seal(*payload);
  ASSERT_OK(sealed);
  if (std::getenv("AFLGUARD_WRITE_GOLDEN") != nullptr) {
    ASSERT_OK(write_file_atomically(kGolden / name, sealed->bytes()));
  }
  const auto golden = read_file(kGolden / name);
  ASSERT_OK(golden);
  TEST_ASSERT_TRUE(
      std::equal(golden->begin(), golden->end(), sealed->bytes().begin(), sealed->bytes().end()));
}

/// The golden file as OpenSSL and as Mbed TLS verify it.
std::vector<VerifiedPayload> opened_by_both(const std::string& name) {
  const MbedtlsSigner signer = golden_signer();
  KeyTable registry;
  ASSERT_OK(registry.add("board-17", signer.public_key()));
  const OpensslVerifier openssl;
  const MbedtlsVerifier mbedtls;
  std::vector<VerifiedPayload> opened;
  for (const Verifier* verifier :
       {static_cast<const Verifier*>(&openssl), static_cast<const Verifier*>(&mbedtls)}) {
    auto unverified = UnverifiedEnvelope::parse(read_file(kGolden / name).value());
    ASSERT_ADMITTED(unverified);
    auto payload = EnvelopeOpener(registry, *verifier).open(std::move(*unverified));
    ASSERT_ADMITTED(payload);
    opened.push_back(std::move(*payload));
  }
  return opened;
}

}  // namespace

TEST("Sealing today gives the bytes of the golden files") {
  assert_golden("update.cose", encode(sample_update()));
  assert_golden("verdict.cose", encode(sample_verdict()));
  assert_golden("verdict-with-model.cose", encode(verdict_with_model()));
  assert_golden("model.cose", encode(sample_model()));
  assert_golden("refusal.cose", encode(sample_refusal()));
}

TEST("An update that borrows its vector is sealed to the same golden bytes") {
  MbedtlsSigner signer = golden_signer();
  const UpdateMessage update = sample_update();
  const auto payload = encode_borrowed(update);
  ASSERT_OK(payload);
  TEST_ASSERT_EQUAL_PTR(update.vector.data(), payload->vector.data());
  const auto sealed = EnvelopeSealer(signer).seal_borrowed(*payload);
  ASSERT_OK(sealed);
  const auto golden = read_file(kGolden / "update.cose");
  ASSERT_OK(golden);
  TEST_ASSERT_TRUE(
      std::equal(golden->begin(), golden->end(), sealed->bytes().begin(), sealed->bytes().end()));
}

TEST("Both libraries open the golden files to the same messages") {
  for (const auto& payload : opened_by_both("update.cose")) {
    const auto update = decode_update(payload);
    ASSERT_ADMITTED(update);
    TEST_ASSERT_TRUE(sample_update() == *update);
  }
  for (const auto& payload : opened_by_both("verdict.cose")) {
    const auto verdict = decode_verdict(payload);
    ASSERT_ADMITTED(verdict);
    TEST_ASSERT_TRUE(sample_verdict() == *verdict);
  }
  for (const auto& payload : opened_by_both("verdict-with-model.cose")) {
    const auto verdict = decode_verdict(payload);
    ASSERT_ADMITTED(verdict);
    TEST_ASSERT_TRUE(verdict_with_model() == *verdict);
  }
  for (const auto& payload : opened_by_both("model.cose")) {
    const auto model = decode_model(payload);
    ASSERT_ADMITTED(model);
    TEST_ASSERT_TRUE(sample_model() == *model);
  }
  for (const auto& payload : opened_by_both("refusal.cose")) {
    const auto refusal = decode_refusal(payload);
    ASSERT_ADMITTED(refusal);
    TEST_ASSERT_TRUE(sample_refusal() == *refusal);
  }
}
