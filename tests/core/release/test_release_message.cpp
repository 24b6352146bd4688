#include "tests/core/release/releases.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

const Bytes kArchive(2 * kReleasePieceBytes + 5, std::byte{3});

void expect_refused(RefusalReason reason, const Admitted<ReleaseMessage>& release) {
  TEST_ASSERT_FALSE(release.ok());
  TEST_ASSERT_EQUAL_STRING(std::string(to_string(reason)).c_str(),
                           std::string(to_string(release.error().reason)).c_str());
}

}  // namespace

TEST("A release that was signed is the release that is read, with every field") {
  ReleaseKeys keys;
  const ReleaseMessage release = sample_release(kArchive);
  TEST_ASSERT_EQUAL_size_t(3, release.pieces.size());
  const auto read = open_release(keys.sealed(encode(release).value()), keys.opener(), "orchard");
  TEST_ASSERT_TRUE(read.ok());
  TEST_ASSERT_TRUE(*read == release);
}

TEST("A release that the gateway's or a device's key signed, or that was changed, is refused") {
  ReleaseKeys keys;
  ReleaseKeys gateway;
  const Payload payload = encode(sample_release(kArchive)).value();
  expect_refused(RefusalReason::kUnknownKey, open_release(gateway.sealed(payload), keys.opener(), "orchard"));
  Bytes envelope = keys.sealed(payload);
  envelope[envelope.size() / 2] ^= std::byte{1};
  expect_refused(RefusalReason::kBadSignature, open_release(envelope, keys.opener(), "orchard"));
  envelope.resize(envelope.size() / 2);
  expect_refused(RefusalReason::kMalformed, open_release(envelope, keys.opener(), "orchard"));
  expect_refused(RefusalReason::kMalformed, open_release({}, keys.opener(), "orchard"));
}

TEST("A release for another fleet is refused") {
  ReleaseKeys keys;
  expect_refused(
      RefusalReason::kWrongFleet,
      open_release(keys.sealed(encode(sample_release(kArchive)).value()), keys.opener(), "meadow"));
}

TEST("A release outside its limits is not signed, and its number is named") {
  const auto with = [](const std::function<void(ReleaseMessage&)>& change) {
    ReleaseMessage release = sample_release(kArchive);
    change(release);
    return message_of(encode(release));
  };
  ASSERT_CONTAINS(with([](ReleaseMessage& r) { r.number = 0; }), "number 0");
  ASSERT_CONTAINS(with([](ReleaseMessage& r) { r.model_name.clear(); }), "0 bytes");
  ASSERT_CONTAINS(with([](ReleaseMessage& r) { r.model_name = std::string(65, 'm'); }), "65 bytes");
  ASSERT_CONTAINS(with([](ReleaseMessage& r) { r.package_bytes = kMaxPackageBytes + 1; }), "67108865 bytes");
  ASSERT_CONTAINS(with([](ReleaseMessage& r) { r.pieces.pop_back(); }), "has 2 pieces, needs 3");
  ASSERT_CONTAINS(with([](ReleaseMessage& r) { r.canaries.assign(257, "pi"); }), "257 canaries");
  ASSERT_CONTAINS(with([](ReleaseMessage& r) { r.canaries = {"a/b"}; }), "canary");
}

TEST("No byte of a release's payload can be changed without a refusal or another release") {
  ReleaseKeys keys;
  const Payload payload = encode(sample_release(kArchive)).value();
  for (std::size_t i = 0; i < payload.bytes.size(); ++i) {
    Payload damaged = payload;
    damaged.bytes[i] ^= std::byte{0x80};
    const auto read = open_release(keys.sealed(damaged), keys.opener(), "orchard");
    TEST_ASSERT_FALSE(read.ok() && *read == sample_release(kArchive));
    damaged.bytes.resize(i);
    TEST_ASSERT_FALSE(open_release(keys.sealed(damaged), keys.opener(), "orchard").ok());
  }
}
