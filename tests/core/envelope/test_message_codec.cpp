#include <cmath>
#include <limits>

#include "core/envelope/message_codec.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

Admitted<UpdateMessage> decode_signed_update(Fleet& fleet, Bytes payload) {
  TRY(const auto opened,
      fleet.open_at_gateway(fleet.seal_by_device(PayloadType::kUpdate, std::move(payload))));
  return decode_update(opened);
}

/// A sealed, opened and decoded copy of `message`.
template <typename Message, typename Decode>
void assert_round_trip(const Message& message, Decode decode_message) {
  Fleet fleet;
  const auto payload = encode(message);
  ASSERT_OK(payload);
  const auto opened = fleet.open_at_gateway(fleet.seal_by_device(*payload));
  ASSERT_ADMITTED(opened);
  const auto decoded = decode_message(*opened);
  ASSERT_ADMITTED(decoded);
  TEST_ASSERT_TRUE(message == *decoded);
}

Admitted<UpdateMessage> decode(const VerifiedPayload& payload) {
  return decode_update(payload);
}

}  // namespace

TEST("Every message comes back as it was written, at the ends of its ranges too") {
  assert_round_trip(sample_update(), decode);
  assert_round_trip(sample_model(), decode_model);
  assert_round_trip(sample_verdict(), decode_verdict);
  VerdictMessage verdict = sample_verdict();
  verdict.model = sample_model();
  verdict.reason = 255;
  verdict.bound = std::numeric_limits<double>::infinity();
  assert_round_trip(verdict, decode_verdict);
  UpdateMessage update = sample_update();
  update.fleet = std::string(64, 'f');
  update.sequence = update.base_version = update.samples = std::numeric_limits<std::uint64_t>::max();
  update.loss = -0.0;
  update.vector = {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(),
                   std::numeric_limits<float>::denorm_min()};
  assert_round_trip(update, decode);
}

TEST("A vector is a typed array of RFC 8746: tag 85, floats in little endian") {
  UpdateMessage update = sample_update();
  update.vector = {1.0F};
  const auto payload = encode(update);
  ASSERT_OK(payload);
  const Bytes tail = bytes_of({0x07, 0xd8, 0x55, 0x44, 0x00, 0x00, 0x80, 0x3f});
  TEST_ASSERT_TRUE(std::equal(tail.begin(), tail.end(), payload->bytes.end() - 8));
}

TEST("A sender is told about a field outside its range before anything is signed") {
  UpdateMessage update = sample_update();
  update.fleet = "apple/orchard";
  ASSERT_CONTAINS(message_of(encode(update)), "fleet 'apple/orchard' is not a name");
  update = sample_update();
  update.fleet = std::string(65, 'f');
  TEST_ASSERT_FALSE(encode(update).ok());
  update = sample_update();
  update.sequence = 0;
  ASSERT_CONTAINS(message_of(encode(update)), "sequence number is 0");
  update = sample_update();
  update.vector.clear();
  ASSERT_CONTAINS(message_of(encode(update)), "vector is empty");
  update = sample_update();
  update.vector[2] = std::nanf("");
  ASSERT_CONTAINS(message_of(encode(update)), "NaN or an infinity");
  ModelMessage model = sample_model();
  for (const double rate : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    model.learning_rate = rate;
    ASSERT_CONTAINS(message_of(encode(model)), "learning rate");
  }
  model = sample_model();
  model.batch_size = 0;
  ASSERT_CONTAINS(message_of(encode(model)), "batch size is 0");
  model = sample_model();
  model.local_steps = 0;
  ASSERT_CONTAINS(message_of(encode(model)), "local steps are 0");
}

TEST("A NaN or an infinity anywhere in a signed vector is refused as not finite") {
  Fleet fleet;
  const Bytes one = bytes_of({0x00, 0x00, 0x80, 0x3f});
  UpdateMessage update = sample_update();
  update.vector = {0.5F, 1.0F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F};
  const Bytes payload = encode(update).value().bytes;
  for (const Bytes& bad : {bytes_of({0x00, 0x00, 0xc0, 0x7f}), bytes_of({0x00, 0x00, 0x80, 0x7f}),
                           bytes_of({0x00, 0x00, 0x80, 0xff}), bytes_of({0x01, 0x00, 0x80, 0x7f})}) {
    ASSERT_REFUSED(kNotFinite, decode_signed_update(fleet, replaced(payload, one, bad)));
  }
  ASSERT_ADMITTED(decode_signed_update(fleet, payload));
}

TEST("Signed updates that leave the format are refused as malformed") {
  Fleet fleet;
  const Bytes good = encode(sample_update()).value().bytes;
  const auto refuse_with = [&](const Bytes& from, const Bytes& to) {
    ASSERT_REFUSED(kMalformed, decode_signed_update(fleet, replaced(good, from, to)));
  };
  refuse_with(bytes_of({0xa7, 0x01}), bytes_of({0xa6, 0x01}));                          // an entry less
  refuse_with(bytes_of({0xa7, 0x01}), bytes_of({0xbf, 0x01}));                          // indefinite
  refuse_with(bytes_of({0x03, 0x19, 0x01, 0x2c}), bytes_of({0x02, 0x19, 0x01, 0x2c}));  // key 2 twice
  refuse_with(bytes_of({0x03, 0x19, 0x01, 0x2c}), bytes_of({0x03, 0x38, 0x2c}));        // negative version
  refuse_with(bytes_of({0x04, 0x07, 0x05}), bytes_of({0x04, 0x00, 0x05}));              // sequence 0
  refuse_with(bytes_of({0x04, 0x07, 0x05}), bytes_of({0x04, 0x18, 0x07, 0x05}));        // longer head
  refuse_with(bytes_of({0x67, 'o', 'r'}), bytes_of({0x67, '/', 'r'}));                  // no name
  refuse_with(bytes_of({0x02, 0x58, 0x20, 0x00}), bytes_of({0x02, 0x58, 0x1f}));        // short hash
  refuse_with(bytes_of({0xd8, 0x55}), bytes_of({0xd8, 0x51}));                          // big endian floats
  refuse_with(bytes_of({0xd8, 0x55, 0x54}), bytes_of({0xd8, 0x55, 0x53}));              // not a multiple of 4
  refuse_with(bytes_of({0xd8, 0x55, 0x54}), bytes_of({0xd8, 0x55, 0x5b, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}));
  Bytes longer = good;
  longer.push_back(std::byte{0});
  ASSERT_REFUSED(kMalformed, decode_signed_update(fleet, longer));
  ASSERT_REFUSED(kMalformed, decode_signed_update(fleet, {}));
}

TEST("A signed update with an empty vector is refused") {
  Fleet fleet;
  UpdateMessage update = sample_update();
  update.vector = {1.0F};
  const Bytes payload = replaced(encode(update).value().bytes, bytes_of({0xd8, 0x55, 0x44, 0, 0, 0x80, 0x3f}),
                                 bytes_of({0xd8, 0x55, 0x40}));
  ASSERT_REFUSED(kMalformed, decode_signed_update(fleet, payload));
}

TEST(
    "A verdict that sets the pace is of format 2, with a model or without; without a pause it is of format "
    "1") {
  VerdictMessage verdict = sample_verdict();
  TEST_ASSERT_EQUAL_UINT8(1, encode(verdict).value().format);
  verdict.come_back = kLongestPause;
  TEST_ASSERT_EQUAL_UINT8(2, encode(verdict).value().format);
  Fleet fleet;
  for (const bool with_model : {false, true}) {
    if (with_model) verdict.model = sample_model();
    const auto opened = fleet.open_at_gateway(fleet.seal_by_device(encode(verdict).value()));
    const auto decoded = decode_verdict(*opened);
    ASSERT_ADMITTED(decoded);
    TEST_ASSERT_TRUE(verdict == *decoded);
  }
}

TEST("A pause of nothing, or of more than a day, is refused on both sides") {
  VerdictMessage verdict = sample_verdict();
  verdict.come_back = kLongestPause + std::chrono::milliseconds(1);
  TEST_ASSERT_FALSE(encode(verdict).ok());
  verdict.come_back = std::chrono::milliseconds(-1);
  TEST_ASSERT_FALSE(encode(verdict).ok());
  verdict.come_back = std::chrono::milliseconds(1);
  Fleet fleet;
  for (const std::string& pause : {std::string("\x00", 1), std::string("\x1a\xff\xff\xff\xff", 5)}) {
    Payload payload = encode(verdict).value();
    payload.bytes.pop_back();
    for (const char byte : pause) payload.bytes.push_back(static_cast<std::byte>(byte));
    const auto opened = fleet.open_at_gateway(fleet.seal_by_device(payload));
    ASSERT_REFUSED(kMalformed, decode_verdict(*opened));
  }
}

TEST("A verdict cannot be passed off as an update or a model") {
  Fleet fleet;
  const auto opened = fleet.open_at_gateway(fleet.seal_by_device(encode(sample_verdict()).value()));
  ASSERT_ADMITTED(opened);
  ASSERT_REFUSED(kUnsupported, decode_update(*opened));
  ASSERT_REFUSED(kUnsupported, decode_model(*opened));
  ASSERT_ADMITTED(decode_verdict(*opened));
}

TEST("Numbers one above their limit are refused: reason, batch size, local steps") {
  Fleet fleet;
  const auto decode_as = [&](PayloadType type, Bytes bytes) {
    return fleet.open_at_gateway(fleet.seal_by_device(type, std::move(bytes)));
  };
  VerdictMessage verdict = sample_verdict();
  verdict.reason = 255;
  const Bytes judged = replaced(encode(verdict).value().bytes, bytes_of({0x05, 0x18, 0xff}),
                                bytes_of({0x05, 0x19, 0x01, 0x00}));
  ASSERT_REFUSED(kMalformed, decode_verdict(*decode_as(PayloadType::kVerdict, judged)));
  ModelMessage model = sample_model();
  model.batch_size = std::numeric_limits<std::uint32_t>::max();
  const Bytes batch = replaced(encode(model).value().bytes, bytes_of({0x04, 0x1a, 0xff, 0xff, 0xff, 0xff}),
                               bytes_of({0x04, 0x1b, 0, 0, 0, 1, 0, 0, 0, 0}));
  ASSERT_REFUSED(kMalformed, decode_model(*decode_as(PayloadType::kModel, batch)));
  const Bytes steps = replaced(encode(sample_model()).value().bytes, bytes_of({0x06, 0x05, 0x07}),
                               bytes_of({0x06, 0x00, 0x07}));
  ASSERT_REFUSED(kMalformed, decode_model(*decode_as(PayloadType::kModel, steps)));
}

TEST("The largest message of each kind fits into the room around its vector") {
  Fleet fleet;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::string name(64, 'n');
  UpdateMessage update = sample_update();
  update.fleet = name;
  update.base_version = update.sequence = update.samples = most;
  ModelMessage model = sample_model();
  model.fleet = name;
  model.version = most;
  model.batch_size = model.local_steps = std::numeric_limits<std::uint32_t>::max();
  model.vector.assign(100'000, 1.0F);  // a longer head of the array
  VerdictMessage verdict = sample_verdict();
  verdict.fleet = verdict.device = name;
  verdict.sequence = verdict.version = verdict.delay = verdict.highest_sequence = most;
  verdict.reason = 255;
  verdict.model = model;
  const auto fits = [&](const Payload& payload, std::size_t dimension) {
    const std::size_t size = fleet.seal_by_device(payload).size();
    TEST_ASSERT_TRUE(size <= max_envelope_for(dimension));
    TEST_ASSERT_TRUE(size + kRoomForFields > max_envelope_for(dimension));  // all of the vector is in there
  };
  fits(encode(update).value(), update.vector.size());
  fits(encode(model).value(), model.vector.size());
  fits(encode(verdict).value(), model.vector.size());
}

TEST("A receiver that takes no more than a model's largest envelope refuses one byte more") {
  const std::size_t most = max_envelope_for(sample_update().vector.size());
  ASSERT_REFUSED(kMalformed, UnverifiedEnvelope::parse(Bytes(most, std::byte{0xff}), most));
  ASSERT_REFUSED(kOversized, UnverifiedEnvelope::parse(Bytes(most + 1, std::byte{0xff}), most));
}
