#include <array>

#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "core/system/atomic_file.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

const Bytes kSample = bytes_of({'s', 'a', 'm', 'p', 'l', 'e'});

/// The text in two parts: only their concatenation may count.
std::array<std::span<const std::byte>, 2> sample_parts(std::size_t split) {
  const std::span<const std::byte> all(kSample);
  return {all.first(split), all.subspan(split)};
}

/// The key of the P-256 examples in RFC 6979, appendix A.2.5.
std::string example_key() {
  return read_text_file(testing::source_folder() / "tests/golden/envelope/device-key.pem").value();
}

constexpr std::string_view kExampleR = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716";
constexpr std::string_view kExampleS = "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";

void assert_both_verify(Signer& signer) {
  const auto parts = sample_parts(2);
  const auto signature = signer.sign(parts);
  ASSERT_OK(signature);
  for (const EcdsaSignature& either : {*signature, with_low_s(*signature)}) {
    TEST_ASSERT_TRUE(OpensslVerifier().verify(signer.public_key(), parts, either));
    TEST_ASSERT_TRUE(MbedtlsVerifier().verify(signer.public_key(), parts, either));
  }
}

}  // namespace

TEST("Mbed TLS signs the example of RFC 6979 to the bit") {
  auto signer = MbedtlsSigner::from_pem(example_key());
  ASSERT_OK(signer);
  for (const std::size_t split : {std::size_t{0}, std::size_t{2}, std::size_t{6}}) {
    const auto signature = signer->sign(sample_parts(split));
    ASSERT_OK(signature);
    const std::string hex = to_hex(*signature);
    TEST_ASSERT_EQUAL_STRING((std::string(kExampleR) + std::string(kExampleS)).c_str(), hex.c_str());
  }
}

TEST("Each library verifies what the other one signed, with either value of s") {
  auto device = MbedtlsSigner::generate();
  auto gateway = OpensslSigner::generate();
  ASSERT_OK(device);
  ASSERT_OK(gateway);
  for (int i = 0; i < 8; ++i) {
    assert_both_verify(*device);
    assert_both_verify(*gateway);
  }
}

TEST("Each library reads the key that the other one wrote") {
  auto device = MbedtlsSigner::generate();
  auto gateway = OpensslSigner::generate();
  ASSERT_OK(device);
  ASSERT_OK(gateway);
  const auto device_again = OpensslSigner::from_pem(device->private_pem().value());
  const auto gateway_again = MbedtlsSigner::from_pem(gateway->private_pem().value());
  ASSERT_OK(device_again);
  ASSERT_OK(gateway_again);
  TEST_ASSERT_TRUE(device_again->public_key() == device->public_key());
  TEST_ASSERT_TRUE(gateway_again->public_key() == gateway->public_key());
}

TEST("A key id is the RFC 9679 thumbprint") {
  const auto signer = OpensslSigner::from_pem(example_key());
  ASSERT_OK(signer);
  const std::string id = to_hex(key_id_of(signer->public_key()));
  TEST_ASSERT_EQUAL_STRING("750ca40795ab23e51a75dc76fa12c052f6f6c57ba8a732337b91f096592b6ef6", id.c_str());
}

TEST("A high s becomes its low twin, and a low one stays") {
  auto signer = MbedtlsSigner::from_pem(example_key());
  ASSERT_OK(signer);
  const auto signature = signer->sign(sample_parts(0));
  ASSERT_OK(signature);
  TEST_ASSERT_FALSE(has_low_s(*signature));
  const EcdsaSignature low = with_low_s(*signature);
  TEST_ASSERT_TRUE(has_low_s(low));
  TEST_ASSERT_TRUE(with_low_s(low) == low);
  // n - s, computed by hand.
  TEST_ASSERT_EQUAL_STRING("0834e36ad29a83bf2bc9385e491d6099c8fdf9d1ed67aa7ea5f51f93782857a9",
                           to_hex(low).substr(64).c_str());
}

TEST("Half of the group order is the highest s that is low") {
  EcdsaSignature signature{};
  const std::array<std::uint8_t, 32> half = {0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xff,
                                             0xff, 0xff, 0xff, 0xff, 0xff, 0xde, 0x73, 0x7d, 0x56, 0xd3, 0x8b,
                                             0xcf, 0x42, 0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa8};
  std::copy(half.begin(), half.end(), signature.begin() + 32);
  TEST_ASSERT_TRUE(has_low_s(signature));
  ++signature.back();
  TEST_ASSERT_FALSE(has_low_s(signature));
}

TEST("Neither library takes zero, the group order or a key that is not a point") {
  auto signer = MbedtlsSigner::generate();
  ASSERT_OK(signer);
  const auto parts = sample_parts(2);
  const auto good = signer->sign(parts);
  ASSERT_OK(good);
  EcdsaSignature zero_r = *good;
  std::fill_n(zero_r.begin(), 32, std::uint8_t{0});
  EcdsaSignature zero_s = *good;
  std::fill_n(zero_s.begin() + 32, 32, std::uint8_t{0});
  EcdsaSignature huge = *good;
  std::fill_n(huge.begin(), 32, std::uint8_t{0xff});
  for (const EcdsaSignature& bad : {zero_r, zero_s, huge, EcdsaSignature{}}) {
    TEST_ASSERT_FALSE(OpensslVerifier().verify(signer->public_key(), parts, bad));
    TEST_ASSERT_FALSE(MbedtlsVerifier().verify(signer->public_key(), parts, bad));
  }
  PublicKey off_curve = signer->public_key();
  off_curve.back() ^= 1;
  for (const PublicKey& bad : {off_curve, PublicKey{}}) {
    TEST_ASSERT_FALSE(OpensslVerifier().verify(bad, parts, *good));
    TEST_ASSERT_FALSE(MbedtlsVerifier().verify(bad, parts, *good));
  }
}

TEST("A private key that is none is refused with one line") {
  for (const std::string_view pem :
       {"", "nonsense", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n"}) {
    ASSERT_CONTAINS(message_of(MbedtlsSigner::from_pem(pem)), "the private key cannot be read");
    ASSERT_CONTAINS(message_of(OpensslSigner::from_pem(pem)), "the private key cannot be read");
  }
}
