#include <cstdlib>
#include <filesystem>

#include "core/envelope/encoded_messages.h"
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

VerdictMessage paced_verdict() {
  VerdictMessage verdict = sample_verdict();
  verdict.come_back = std::chrono::minutes(7);
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

/// Numbers of one and a half blocks, none of them a whole number of steps.
UpdateMessage update_to_encode() {
  UpdateMessage update = sample_update();
  update.vector.clear();
  for (int i = 0; i < 96; ++i) update.vector.push_back(0.37F * static_cast<float>(i % 11) - 1.3F);
  return update;
}

Result<Payload> encoded_update(Encoding encoding, Packing packing = Packing::kPlain) {
  const UpdateMessage update = update_to_encode();
  TRY(auto vector, encode_vector(update.vector, encoding, 1234));
  if (packing == Packing::kZstd) {
    TRY(vector, packed(std::move(vector)));
  }
  return encode_compact(update, vector);
}

ModelMessage older_model() {
  ModelMessage model = sample_model();
  model.version = 69'990;
  model.vector = {0.625F, -0.5F, 7.0F};
  return model;
}

Result<Payload> sample_difference() {
  TRY(ModelDifference found, difference_of(older_model().vector, sample_model().vector));
  DifferenceMessage difference{sample_model(), older_model().version, model_digest(sample_model().vector),
                               found.kind, std::move(found.bytes)};
  difference.terms.vector.clear();
  return encode(difference);
}

OfferMessage sample_offer() {
  return {"orchard", sample_update().model_hash, EncodingSet::all()};
}

}  // namespace

TEST("Sealing today gives the bytes of the golden files") {
  assert_golden("update.cose", encode(sample_update()));
  assert_golden("verdict.cose", encode(sample_verdict()));
  assert_golden("verdict-with-model.cose", encode(verdict_with_model()));
  assert_golden("verdict-paced.cose", encode(paced_verdict()));
  assert_golden("model.cose", encode(sample_model()));
  assert_golden("refusal.cose", encode(sample_refusal()));
  assert_golden("update-fp16.cose", encoded_update(Encoding::kFloat16));
  assert_golden("update-int8.cose", encoded_update(Encoding::kInt8));
  assert_golden("update-int4.cose", encoded_update(Encoding::kInt4));
  assert_golden("offer.cose", encode(sample_offer()));
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

TEST("What zstd makes of an update may change, what was made once opens always") {
  const auto payload = encoded_update(Encoding::kInt8, Packing::kZstd);
  ASSERT_OK(payload);
  if (std::getenv("AFLGUARD_WRITE_GOLDEN") != nullptr) {
    assert_golden("update-int8-zstd.cose", payload);
    assert_golden("difference.cose", sample_difference());
  }
  const auto plain = decode_update(opened_by_both("update-int8.cose").front());
  const auto small = decode_update(opened_by_both("update-int8-zstd.cose").front());
  ASSERT_ADMITTED(plain);
  ASSERT_ADMITTED(small);
  TEST_ASSERT_TRUE(*plain == *small);
}

TEST("Both libraries open the golden files to the same messages") {
  for (const auto& payload : opened_by_both("update.cose")) {
    const auto update = decode_update(payload);
    ASSERT_ADMITTED(update);
    TEST_ASSERT_TRUE(sample_update() == *update);
  }
  const std::pair<const char*, double> encoded[] = {{"update-fp16.cose", 0.0005},
                                                    {"update-int8.cose", 0.01},
                                                    {"update-int4.cose", 0.2},
                                                    {"update-int8-zstd.cose", 0.01}};
  for (const auto& [name, most_error] : encoded) {
    for (const auto& payload : opened_by_both(name)) {
      const auto update = decode_update(payload);
      ASSERT_ADMITTED(update);
      TEST_ASSERT_TRUE(relative_error(update_to_encode().vector, update->vector) < most_error);
    }
  }
  for (const auto& payload : opened_by_both("difference.cose")) {
    const auto difference = decode_difference(payload);
    ASSERT_ADMITTED(difference);
    const auto model = apply(*difference, older_model());
    ASSERT_ADMITTED(model);
    TEST_ASSERT_TRUE(sample_model() == *model);
  }
  for (const auto& payload : opened_by_both("offer.cose")) {
    const auto offer = decode_offer(payload);
    ASSERT_ADMITTED(offer);
    TEST_ASSERT_TRUE(sample_offer() == *offer);
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
  for (const auto& payload : opened_by_both("verdict-paced.cose")) {
    const auto verdict = decode_verdict(payload);
    ASSERT_ADMITTED(verdict);
    TEST_ASSERT_TRUE(paced_verdict() == *verdict);
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
