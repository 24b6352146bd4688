#include <type_traits>

#include "core/envelope/envelope.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

// Forgetting to verify does not compile.
static_assert(!std::is_default_constructible_v<VerifiedPayload>);
static_assert(!std::is_constructible_v<VerifiedPayload, Bytes>);
static_assert(!std::is_constructible_v<VerifiedPayload, UnverifiedEnvelope>);
static_assert(!std::is_default_constructible_v<UnverifiedEnvelope>);

namespace {

/// The protected header's entries, each replaceable, in an envelope signed over exactly what it then says.
struct ForgedHeader {
  std::int64_t algorithm = -7;
  std::string type = "application/vnd.aflguard.update+cbor";
  std::size_t key_id_size = 32;
  std::uint64_t version = 1;
  bool with_crit = false;
  bool with_unknown_label = false;
};

Bytes forged(const ForgedHeader& forgery, Fleet& fleet) {
  Bytes header;
  CborWriter writer(header);
  writer.put_map(4 + (forgery.with_crit ? 1 : 0) + (forgery.with_unknown_label ? 1 : 0));
  writer.put_integer(1);
  writer.put_integer(forgery.algorithm);
  if (forgery.with_crit) {
    writer.put_integer(2);
    writer.put_array(1);
    writer.put_integer(-65537);
  }
  writer.put_integer(3);
  writer.put_text(forgery.type);
  writer.put_integer(4);
  KeyId id = key_id_of(fleet.device.public_key());
  writer.put_bytes(std::as_bytes(std::span(id)).first(forgery.key_id_size));
  if (forgery.with_unknown_label) {
    writer.put_integer(6);
    writer.put_integer(0);
  }
  writer.put_integer(-65537);
  writer.put_unsigned(forgery.version);
  Bytes structure;
  CborWriter to_sign(structure);
  const Bytes payload = encode(sample_update()).value().bytes;
  to_sign.put_array(4);
  to_sign.put_text("Signature1");
  to_sign.put_bytes(header);
  to_sign.put_bytes({});
  to_sign.put_bytes(payload);
  const std::array<std::span<const std::byte>, 1> parts = {structure};
  const EcdsaSignature signature = with_low_s(fleet.device.sign(parts).value());
  Bytes envelope;
  CborWriter out(envelope);
  out.put_tag(18);
  out.put_array(4);
  out.put_bytes(header);
  out.put_map(0);
  out.put_bytes(payload);
  out.put_bytes(std::as_bytes(std::span(signature)));
  return envelope;
}

}  // namespace

TEST("What a device seals with Mbed TLS, the gateway opens with OpenSSL") {
  Fleet fleet;
  const Bytes envelope = fleet.seal_by_device(encode(sample_update()).value());
  auto unverified = UnverifiedEnvelope::parse(envelope);
  ASSERT_ADMITTED(unverified);
  const OpensslVerifier openssl;
  const auto opened = EnvelopeOpener(fleet.devices, openssl).open(std::move(*unverified));
  ASSERT_ADMITTED(opened);
  TEST_ASSERT_EQUAL_STRING("board-17", opened->sender().c_str());
  TEST_ASSERT_TRUE(std::equal(envelope.begin(), envelope.end(), opened->envelope().begin()));
  const auto update = decode_update(*opened);
  ASSERT_ADMITTED(update);
  TEST_ASSERT_TRUE(sample_update() == *update);
}

TEST("What the gateway seals with OpenSSL, a device opens with Mbed TLS") {
  Fleet fleet;
  auto gateway = OpensslSigner::generate();
  ASSERT_OK(gateway);
  KeyTable gateways;
  ASSERT_OK(gateways.add("gateway", gateway->public_key()));
  auto sealed = EnvelopeSealer(*gateway).seal(encode(sample_model()).value());
  ASSERT_OK(sealed);
  auto unverified = UnverifiedEnvelope::parse(std::move(*sealed).release());
  ASSERT_ADMITTED(unverified);
  const auto opened = EnvelopeOpener(gateways, fleet.verifier).open(std::move(*unverified));
  ASSERT_ADMITTED(opened);
  const auto model = decode_model(*opened);
  ASSERT_ADMITTED(model);
  TEST_ASSERT_TRUE(sample_model() == *model);
}

TEST("The test's own forgery without any change opens, so that its changes are what is refused") {
  Fleet fleet;
  ASSERT_ADMITTED(fleet.open_at_gateway(forged({}, fleet)));
}

TEST("Another algorithm, content type or version is refused although the signature is right") {
  Fleet fleet;
  ForgedHeader forgery;
  forgery.algorithm = -35;
  ASSERT_REFUSED(kUnsupported, fleet.open_at_gateway(forged(forgery, fleet)));
  forgery = {};
  forgery.type = "application/vnd.aflguard.updates+cbor";
  ASSERT_REFUSED(kUnsupported, fleet.open_at_gateway(forged(forgery, fleet)));
  forgery = {};
  forgery.version = 3;
  ASSERT_REFUSED(kUnsupported, fleet.open_at_gateway(forged(forgery, fleet)));
}

TEST("Critical and unknown headers are refused, and so is a key id of another length") {
  Fleet fleet;
  ForgedHeader forgery;
  forgery.with_crit = true;
  ASSERT_REFUSED(kMalformed, fleet.open_at_gateway(forged(forgery, fleet)));
  forgery = {};
  forgery.with_unknown_label = true;
  ASSERT_REFUSED(kMalformed, fleet.open_at_gateway(forged(forgery, fleet)));
  forgery = {};
  forgery.key_id_size = 31;
  ASSERT_REFUSED(kMalformed, fleet.open_at_gateway(forged(forgery, fleet)));
}

TEST("No single changed bit gets through") {
  Fleet fleet;
  const OpensslVerifier openssl;
  const Bytes envelope = fleet.seal_by_device(encode(sample_update()).value());
  for (std::size_t i = 0; i < envelope.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = envelope;
      changed[i] ^= std::byte{1} << bit;
      auto unverified = UnverifiedEnvelope::parse(std::move(changed));
      if (!unverified.ok()) continue;
      const auto opened = EnvelopeOpener(fleet.devices, openssl).open(std::move(*unverified));
      TEST_ASSERT_FALSE_MESSAGE(opened.ok(), ("byte " + std::to_string(i)).c_str());
    }
  }
}

TEST("No prefix gets through, nor anything with a byte more") {
  Fleet fleet;
  const Bytes envelope = fleet.seal_by_device(encode(sample_update()).value());
  for (std::size_t size = 0; size < envelope.size(); ++size) {
    ASSERT_REFUSED(kMalformed, fleet.open_at_gateway(Bytes(
                                   envelope.begin(), envelope.begin() + static_cast<std::ptrdiff_t>(size))));
  }
  Bytes longer = envelope;
  longer.push_back(std::byte{0});
  ASSERT_REFUSED(kMalformed, fleet.open_at_gateway(std::move(longer)));
}

TEST("A high s is refused although both libraries would verify it") {
  Fleet fleet;
  Bytes envelope = fleet.seal_by_device(encode(sample_update()).value());
  // n - s over the last 32 bytes.
  const Bytes order = bytes_of({0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0,    0xff, 0xff, 0xff,
                                0xff, 0xff, 0xff, 0xff, 0xff, 0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17,
                                0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51});
  int borrow = 0;
  for (std::size_t i = 32; i-- > 0;) {
    std::byte& digit = envelope[envelope.size() - 32 + i];
    const int difference = std::to_integer<int>(order[i]) - std::to_integer<int>(digit) - borrow;
    borrow = difference < 0 ? 1 : 0;
    digit = static_cast<std::byte>(difference + 256 * borrow);
  }
  ASSERT_REFUSED(kBadSignature, fleet.open_at_gateway(std::move(envelope)));
}

TEST("Anything in the unprotected header is refused") {
  Fleet fleet;
  const Bytes envelope = fleet.seal_by_device(encode(sample_update()).value());
  // The empty map stands between the protected header, whose end is the version 1, and the payload's head.
  const Bytes before = bytes_of({0x3a, 0, 1, 0, 0, 1, 0xa0});
  ASSERT_REFUSED(kMalformed, fleet.open_at_gateway(replaced(
                                 envelope, before, bytes_of({0x3a, 0, 1, 0, 0, 1, 0xa1, 0x05, 0x00}))));
}

TEST("A message of a stranger, of a revoked device and of another fleet's device is refused") {
  Fleet fleet;
  Fleet other;
  const Payload payload = encode(sample_update()).value();
  ASSERT_REFUSED(kUnknownKey, fleet.open_at_gateway(other.seal_by_device(payload)));
  const Bytes envelope = fleet.seal_by_device(payload);
  ASSERT_ADMITTED(fleet.open_at_gateway(envelope));
  ASSERT_OK(fleet.devices.revoke("board-17"));
  ASSERT_REFUSED(kRevoked, fleet.open_at_gateway(envelope));
}

TEST("A key id of one device with the signature of another is refused") {
  Fleet fleet;
  Fleet other;
  ASSERT_OK(fleet.devices.add("board-18", other.device.public_key()));
  const KeyId mine = key_id_of(fleet.device.public_key());
  const KeyId theirs = key_id_of(other.device.public_key());
  const auto as_bytes = [](const KeyId& id) {
    const auto view = std::as_bytes(std::span(id));
    return Bytes(view.begin(), view.end());
  };
  const Bytes envelope = fleet.seal_by_device(encode(sample_update()).value());
  ASSERT_REFUSED(kBadSignature, fleet.open_at_gateway(replaced(envelope, as_bytes(mine), as_bytes(theirs))));
}

TEST("An envelope of the largest allowed size opens, and one byte more is refused before it is read") {
  Fleet fleet;
  const Bytes envelope = fleet.seal_by_device(encode(sample_update()).value());
  ASSERT_ADMITTED(UnverifiedEnvelope::parse(envelope, envelope.size()));
  ASSERT_REFUSED(kOversized, UnverifiedEnvelope::parse(envelope, envelope.size() - 1));
  ASSERT_REFUSED(kOversized, UnverifiedEnvelope::parse(Bytes(101, std::byte{0xff}), 100));
}

TEST("A key belongs to one owner only, and owners have names that fit a topic") {
  Fleet fleet;
  ASSERT_CONTAINS(message_of(fleet.devices.add("board-18", fleet.device.public_key())),
                  "belongs to 'board-17' already");
  ASSERT_CONTAINS(message_of(fleet.devices.add("a/b", fleet.gateway.public_key())), "is not a name");
  ASSERT_CONTAINS(message_of(fleet.devices.revoke("board-99")), "has no key");
}
