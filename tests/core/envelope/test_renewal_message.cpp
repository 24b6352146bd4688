#include <functional>

#include "core/envelope/renewal_message.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

RenewalMessage sample_renewal() {
  return {"orchard", "pi-1", std::chrono::system_clock::from_time_t(1'769'860'800), "-----BEGIN"};
}

/// The message as its sender signs and the operator reads it.
Admitted<RenewalMessage> travelled_renewal(Fleet& fleet, const Payload& payload) {
  Bytes envelope = EnvelopeSealer(fleet.gateway).seal(payload).value().release();
  TRY(UnverifiedEnvelope unverified, UnverifiedEnvelope::parse(std::move(envelope), kMaxRenewalBytes));
  TRY(const VerifiedPayload opened,
      EnvelopeOpener(fleet.gateways, fleet.verifier).open(std::move(unverified)));
  return decode_renewal(opened);
}

bool can_be_signed(const std::function<void(RenewalMessage&)>& change) {
  RenewalMessage message = sample_renewal();
  change(message);
  return encode(message).ok();
}

}  // namespace

TEST("A renewal that was signed is the renewal that is read, with every field") {
  Fleet fleet;
  const auto read = travelled_renewal(fleet, encode(sample_renewal()).value());
  ASSERT_ADMITTED(read);
  TEST_ASSERT_TRUE(sample_renewal() == *read);
  RenewalMessage largest = sample_renewal();
  largest.request = std::string(8192, 'x');
  ASSERT_ADMITTED(travelled_renewal(fleet, encode(largest).value()));
}

TEST("A renewal one above any of its limits is not signed") {
  TEST_ASSERT_FALSE(can_be_signed([](RenewalMessage& message) { message.fleet = "no fleet"; }));
  TEST_ASSERT_FALSE(can_be_signed([](RenewalMessage& message) { message.device = ""; }));
  TEST_ASSERT_FALSE(can_be_signed([](RenewalMessage& message) { message.request = ""; }));
  TEST_ASSERT_FALSE(can_be_signed([](RenewalMessage& message) { message.request.assign(8193, 'x'); }));
  TEST_ASSERT_FALSE(can_be_signed(
      [](RenewalMessage& message) { message.time = std::chrono::system_clock::from_time_t(-1); }));
}

TEST("A renewal that is cut at any byte, or is another message, is refused") {
  Fleet fleet;
  const Payload whole = encode(sample_renewal()).value();
  for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
    const Bytes part(whole.bytes.begin(), whole.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const auto read = travelled_renewal(fleet, {PayloadType::kRenewal, part});
    TEST_ASSERT_FALSE(read.ok());
    TEST_ASSERT_TRUE(read.error().reason == RefusalReason::kMalformed);
  }
  TEST_ASSERT_TRUE(travelled_renewal(fleet, {PayloadType::kRefusal, whole.bytes}).error().reason ==
                   RefusalReason::kUnsupported);
}
