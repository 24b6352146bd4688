#include <limits>

#include "core/envelope/message_codec.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "firmware_sim/byzantine_client/malicious_encode.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;

namespace {

/// What the gateway's decoder says to a payload that the attacker signed properly.
std::string refusal_of(const Payload& payload) {
  auto signer = OpensslSigner::generate();
  ASSERT_OK(signer);
  KeyTable keys;
  ASSERT_OK(keys.add("pi-1", signer->public_key()));
  const OpensslVerifier verifier;
  EnvelopeSealer sealer(*signer);
  auto sealed = sealer.seal(payload);
  ASSERT_OK(sealed);
  auto parsed = UnverifiedEnvelope::parse(std::move(*sealed).release());
  TEST_ASSERT_TRUE(parsed.ok());
  const auto opened = EnvelopeOpener(keys, verifier).open(std::move(*parsed));
  TEST_ASSERT_TRUE(opened.ok());
  const auto decoded = decode_update(*opened);
  return decoded.ok() ? "(taken)" : std::string(to_string(decoded.error().reason));
}

UpdateMessage update(std::vector<float> vector = {1, 2, 3, 4, 5}) {
  UpdateMessage message;
  message.fleet = "f";
  message.vector = std::move(vector);
  return message;
}

std::string refusal_of(const char* attack, const UpdateMessage& message) {
  const auto payload = malicious_encode({.name = attack}, message);
  ASSERT_OK(payload);
  return refusal_of(*payload);
}

}  // namespace

TEST("NaN and garbage are signed well and refused by the gateway's decoder") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  TEST_ASSERT_EQUAL_STRING("not-finite", refusal_of("nan", update({nan, nan, nan})).c_str());
  TEST_ASSERT_EQUAL_STRING("not-finite", refusal_of("not-finite", update({1, nan, 3})).c_str());
  TEST_ASSERT_EQUAL_STRING("malformed", refusal_of("garbage", update()).c_str());
  TEST_ASSERT_EQUAL_STRING("(taken)", refusal_of("gd", update()).c_str());
}

TEST("An attack that happens upon a number that is not finite fails as an honest device does") {
  const float infinity = std::numeric_limits<float>::infinity();
  TEST_ASSERT_FALSE(malicious_encode({.name = "gd"}, update({1, infinity})).ok());
}

TEST("Numbers that are finite are encoded as every device encodes them") {
  const auto plain = encode(update());
  const auto unchecked = malicious_encode({.name = "not-finite"}, update());
  ASSERT_OK(unchecked);
  TEST_ASSERT_TRUE(plain->bytes == unchecked->bytes);
}
