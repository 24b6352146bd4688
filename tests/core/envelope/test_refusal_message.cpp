#include <functional>

#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

/// The message as the gateway signs and a device reads it.
Admitted<RefusalMessage> travelled(Fleet& fleet, const Payload& payload) {
  Bytes envelope = EnvelopeSealer(fleet.gateway).seal(payload).value().release();
  TRY(UnverifiedEnvelope unverified, UnverifiedEnvelope::parse(std::move(envelope)));
  TRY(const VerifiedPayload opened,
      EnvelopeOpener(fleet.gateways, fleet.verifier).open(std::move(unverified)));
  return decode_refusal(opened);
}

Result<Payload> with(const std::function<void(RefusalMessage&)>& change) {
  RefusalMessage refusal = sample_refusal();
  change(refusal);
  return encode(refusal);
}

/// `from` in a good payload becomes `to`.
Admitted<RefusalMessage> damaged(Fleet& fleet, const Bytes& from, const Bytes& to) {
  return travelled(fleet, {PayloadType::kRefusal, replaced(encode(sample_refusal())->bytes, from, to)});
}

}  // namespace

TEST("A refusal that was signed is the refusal that is read, with every field") {
  Fleet fleet;
  const auto refusal = travelled(fleet, encode(sample_refusal()).value());
  ASSERT_ADMITTED(refusal);
  TEST_ASSERT_TRUE(sample_refusal() == *refusal);
  const auto largest = with([](RefusalMessage& message) {
    message.transfer = message.sequence = UINT64_MAX;
    message.come_back = kLongestComeBack;
    message.text = std::string(kMaxRefusalText, '~');
    message.reason = static_cast<RefusalReason>(255);  // of a later version
  });
  ASSERT_OK(largest);
  const auto read = travelled(fleet, *largest);
  ASSERT_ADMITTED(read);
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, read->transfer);
  TEST_ASSERT_EQUAL_INT(255, static_cast<int>(read->reason));
}

TEST("A refusal one above any of its limits is not signed") {
  TEST_ASSERT_FALSE(with([](RefusalMessage& message) { message.fleet = "no fleet"; }).ok());
  TEST_ASSERT_FALSE(with([](RefusalMessage& message) { message.device = ""; }).ok());
  TEST_ASSERT_FALSE(with([](RefusalMessage& message) {
                      message.come_back = kLongestComeBack + std::chrono::milliseconds(1);
                    }).ok());
  TEST_ASSERT_FALSE(
      with([](RefusalMessage& message) { message.come_back = std::chrono::milliseconds(-1); }).ok());
  TEST_ASSERT_FALSE(
      with([](RefusalMessage& message) { message.text = std::string(kMaxRefusalText + 1, 'x'); }).ok());
  TEST_ASSERT_FALSE(with([](RefusalMessage& message) { message.text = "two\nlines"; }).ok());
}

TEST("A signed refusal with a field outside its range is refused") {
  Fleet fleet;
  ASSERT_REFUSED(kMalformed, damaged(fleet, bytes_of({0x05, 0x18, 0x4a}), bytes_of({0x05, 0x18, 0x3f})));
  ASSERT_REFUSED(kMalformed,
                 damaged(fleet, bytes_of({0x05, 0x18, 0x4a}), bytes_of({0x05, 0x19, 0x01, 0x00})));
  ASSERT_REFUSED(kMalformed, damaged(fleet, bytes_of({0x07, 0x19, 0x30, 0x39}),
                                     bytes_of({0x07, 0x1a, 0x00, 0x36, 0xee, 0x81})));  // an hour and 1 ms
  ASSERT_REFUSED(kMalformed, damaged(fleet, bytes_of({'2', '5', '6', ' '}), bytes_of({'2', '5', '6', 10})));
  ASSERT_REFUSED(kMalformed, damaged(fleet, bytes_of({0xa8, 0x01}), bytes_of({0xa9, 0x01})));
  ASSERT_REFUSED(kMalformed, damaged(fleet, bytes_of({0x06, 0xf5}), bytes_of({0x06, 0x01})));
}

TEST("A refusal is not a verdict, and a verdict is not a refusal") {
  Fleet fleet;
  ASSERT_REFUSED(kUnsupported, travelled(fleet, encode(sample_verdict()).value()));
  Bytes envelope = EnvelopeSealer(fleet.gateway).seal(encode(sample_refusal()).value()).value().release();
  const auto opened = EnvelopeOpener(fleet.gateways, fleet.verifier)
                          .open(UnverifiedEnvelope::parse(std::move(envelope)).value());
  ASSERT_REFUSED(kUnsupported, decode_verdict(opened.value()));
  ASSERT_REFUSED(kUnsupported, decode_update(opened.value()));
}
