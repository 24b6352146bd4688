#include <limits>

#include "core/compression/compression.h"
#include "core/envelope/encoded_messages.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

/// As format 2 carries it: the numbers are those that were decoded.
UpdateMessage long_update() {
  UpdateMessage update = sample_update();
  update.vector.resize(1000);
  for (std::size_t i = 0; i < update.vector.size(); ++i)
    update.vector[i] = static_cast<float>(i % 50) - 20.0F;
  return update;
}

EncodedVector encoded(const UpdateMessage& update, Encoding encoding, Packing packing = Packing::kPlain) {
  auto vector = encode_vector(update.vector, encoding, 5).value();
  return packing == Packing::kZstd ? packed(std::move(vector)).value() : vector;
}

Admitted<UpdateMessage> received(const Payload& payload, const UpdateLimits& limits = {}) {
  Fleet fleet;
  TRY(const auto opened, fleet.open_at_gateway(fleet.seal_by_device(payload)));
  return decode_update(opened, limits);
}

Payload changed(const Payload& payload, const Bytes& from, const Bytes& to) {
  return {payload.type, replaced(payload.bytes, from, to), payload.format};
}

}  // namespace

TEST("An encoded update comes back with the numbers that its encoding decodes to") {
  const UpdateMessage update = long_update();
  for (const Encoding encoding : {Encoding::kFloat32, Encoding::kFloat16, Encoding::kInt8, Encoding::kInt4}) {
    for (const Packing packing : {Packing::kPlain, Packing::kZstd}) {
      const EncodedVector vector = encoded(update, encoding, packing);
      TEST_ASSERT_TRUE(vector.packing == packing);
      const auto payload = encode_compact(update, vector);
      ASSERT_OK(payload);
      TEST_ASSERT_EQUAL_UINT8(2, payload->format);
      const auto back = received(*payload);
      ASSERT_ADMITTED(back);
      UpdateMessage wanted = update;
      wanted.vector =
          decode_vector({vector.encoding, vector.count, vector.packing, vector.bytes}, 1000).value();
      TEST_ASSERT_TRUE(wanted == *back);
      if (encoding == Encoding::kFloat32) TEST_ASSERT_TRUE(back->vector == update.vector);
    }
  }
}

TEST("An offer comes back as it was written, with bits of programs to come") {
  Fleet fleet;
  OfferMessage offer{"orchard", sample_update().model_hash, EncodingSet::all()};
  offer.taken.encodings |= std::uint64_t{1} << 63;
  offer.taken.packings = std::numeric_limits<std::uint64_t>::max();
  const auto payload = encode(offer);
  ASSERT_OK(payload);
  const auto opened = fleet.open_at_gateway(fleet.seal_by_device(*payload));
  ASSERT_ADMITTED(opened);
  const auto back = decode_offer(*opened);
  ASSERT_ADMITTED(back);
  TEST_ASSERT_TRUE(offer == *back);
}

TEST("Unknown encodings and packings, and those that are not taken, are refused as unsupported") {
  const UpdateMessage update = long_update();
  const auto int8 = encode_compact(update, encoded(update, Encoding::kInt8)).value();
  const Bytes head = bytes_of({0x07, 0x02, 0x08, 0x19, 0x03, 0xe8, 0x09, 0x00});  // int8, 1000 numbers, plain
  const auto with = [&](int encoding, int packing) {
    return changed(int8, head, bytes_of({0x07, encoding, 0x08, 0x19, 0x03, 0xe8, 0x09, packing}));
  };
  ASSERT_ADMITTED(received(with(2, 0)));
  ASSERT_REFUSED(kUnsupported, received(with(4, 0)));
  ASSERT_REFUSED(kUnsupported, received(with(23, 0)));
  ASSERT_REFUSED(kUnsupported, received(with(2, 2)));
  UpdateLimits limits;
  limits.taken.remove(Encoding::kInt8);
  ASSERT_REFUSED(kUnsupported, received(int8, limits));
  limits = {};
  limits.taken.packings = 1;
  ASSERT_REFUSED(
      kUnsupported,
      received(encode_compact(update, encoded(update, Encoding::kInt8, Packing::kZstd)).value(), limits));
}

TEST("More numbers than the receiver's model has are refused, whatever they would unpack to") {
  const UpdateMessage update = long_update();
  for (const Packing packing : {Packing::kPlain, Packing::kZstd}) {
    const auto payload = encode_compact(update, encoded(update, Encoding::kInt8, packing)).value();
    ASSERT_ADMITTED(received(payload, {.numbers = 1000}));
    ASSERT_REFUSED(kMalformed, received(payload, {.numbers = 999}));
  }
  EncodedVector bomb{Encoding::kInt8, std::uint64_t{1} << 40, Packing::kZstd, compress(Bytes(1000)).value()};
  ASSERT_REFUSED(kMalformed, received(encode_compact(update, bomb).value()));
}

TEST("A wrong count of blocks, a bomb, and a scale that is not finite are refused") {
  const UpdateMessage update = long_update();
  EncodedVector vector = encoded(update, Encoding::kInt8);
  vector.count = 960;  // a block less
  ASSERT_REFUSED(kMalformed, received(encode_compact(update, vector).value()));
  vector.count = 1025;  // a block more
  ASSERT_REFUSED(kMalformed, received(encode_compact(update, vector).value()));
  vector = encoded(update, Encoding::kInt8);
  vector.packing = Packing::kZstd;  // but it is not
  ASSERT_REFUSED(kMalformed, received(encode_compact(update, vector).value()));
  vector.bytes = compress(Bytes(std::size_t{64} << 20)).value();
  ASSERT_REFUSED(kMalformed, received(encode_compact(update, vector).value()));
  vector = encoded(update, Encoding::kInt8);
  vector.bytes[1] = std::byte{0x7f};
  vector.bytes[0] = std::byte{0x80};
  ASSERT_REFUSED(kNotFinite, received(encode_compact(update, vector).value()));
}

TEST("Signed updates of format 2 that leave the format are refused as malformed") {
  const UpdateMessage update = long_update();
  const auto good = encode_compact(update, encoded(update, Encoding::kInt8)).value();
  const auto refuse_with = [&](const Bytes& from, const Bytes& to) {
    ASSERT_REFUSED(kMalformed, received(changed(good, from, to)));
  };
  refuse_with(bytes_of({0xaa, 0x01}), bytes_of({0xa9, 0x01}));                          // an entry less
  refuse_with(bytes_of({0xaa, 0x01}), bytes_of({0xab, 0x01}));                          // an entry more
  refuse_with(bytes_of({0x04, 0x07, 0x05}), bytes_of({0x04, 0x00, 0x05}));              // sequence 0
  refuse_with(bytes_of({0x07, 0x02, 0x08}), bytes_of({0x07, 0x18, 0x02, 0x08}));        // longer head
  refuse_with(bytes_of({0x09, 0x00, 0x0a}), bytes_of({0x09, 0x00, 0x0b}));              // another key
  refuse_with(bytes_of({0x08, 0x19, 0x03, 0xe8}), bytes_of({0x08, 0x39, 0x03, 0xe8}));  // negative count
  Payload longer = good;
  longer.bytes.push_back(std::byte{0});
  ASSERT_REFUSED(kMalformed, received(longer));
}

TEST("A payload of one format is not taken for one of the other") {
  Fleet fleet;
  Payload first = encode(sample_update()).value();
  first.format = 2;
  ASSERT_REFUSED(kMalformed, received(first));
  const UpdateMessage update = long_update();
  Payload second = encode_compact(update, encoded(update, Encoding::kInt8)).value();
  second.format = 1;
  ASSERT_REFUSED(kMalformed, received(second));
  Payload verdict = encode(sample_verdict()).value();
  verdict.format = 2;
  const auto opened = fleet.open_at_gateway(fleet.seal_by_device(verdict));
  ASSERT_ADMITTED(opened);
  ASSERT_REFUSED(kMalformed, decode_verdict(*opened));  // it sets no pace
  ASSERT_REFUSED(kUnsupported, decode_offer(*opened));
  ASSERT_REFUSED(kUnsupported, decode_update(*opened));
}

TEST("An envelope of format 0 or 3 is refused as unsupported") {
  Fleet fleet;
  for (const std::uint8_t format : {std::uint8_t{0}, std::uint8_t{3}}) {
    Payload payload = encode(sample_update()).value();
    payload.format = format;
    ASSERT_REFUSED(kUnsupported, fleet.open_at_gateway(fleet.seal_by_device(payload)));
  }
}

TEST("An encoded update never needs a larger envelope than the plain one") {
  Fleet fleet;
  UpdateMessage update = long_update();
  update.fleet = std::string(64, 'n');
  update.base_version = update.sequence = update.samples = std::numeric_limits<std::uint64_t>::max();
  for (const Encoding encoding : {Encoding::kFloat32, Encoding::kFloat16, Encoding::kInt8, Encoding::kInt4}) {
    const auto payload = encode_compact(update, encoded(update, encoding)).value();
    TEST_ASSERT_TRUE(fleet.seal_by_device(payload).size() <= max_envelope_for(update.vector.size()));
  }
}

namespace {

ModelMessage long_model(std::uint64_t version, float shift) {
  ModelMessage model = sample_model();
  model.version = version;
  model.vector.resize(1000);
  for (std::size_t i = 0; i < model.vector.size(); ++i)
    model.vector[i] = static_cast<float>(i) * 0.01F + shift;
  return model;
}

DifferenceMessage difference_between(const ModelMessage& base, const ModelMessage& model) {
  ModelDifference found = difference_of(base.vector, model.vector).value();
  DifferenceMessage difference{model, base.version, model_digest(model.vector), found.kind,
                               std::move(found.bytes)};
  difference.terms.vector.clear();
  return difference;
}

Admitted<DifferenceMessage> received_difference(Fleet& fleet, const Payload& payload) {
  TRY(const auto opened, fleet.open_at_gateway(fleet.seal_by_device(payload)));
  return decode_difference(opened);
}

}  // namespace

TEST("A difference comes back as it was written, and makes the model that was signed") {
  Fleet fleet;
  const ModelMessage base = long_model(7, 0);
  const ModelMessage model = long_model(9, 1e-4F);
  const DifferenceMessage difference = difference_between(base, model);
  const auto payload = encode(difference);
  ASSERT_OK(payload);
  const auto back = received_difference(fleet, *payload);
  ASSERT_ADMITTED(back);
  TEST_ASSERT_TRUE(difference == *back);
  const auto put_together = apply(*back, base);
  ASSERT_ADMITTED(put_together);
  TEST_ASSERT_TRUE(model == *put_together);
}

TEST("A difference to a version that is not here, or to another model of its number, is refused") {
  const ModelMessage base = long_model(7, 0);
  const DifferenceMessage difference = difference_between(base, long_model(9, 1e-4F));
  ModelMessage other = base;
  other.version = 6;
  ASSERT_REFUSED(kWrongModel, apply(difference, other));
  other = base;
  other.vector[500] += 1e-3F;
  ASSERT_REFUSED(kWrongModel, apply(difference, other));
  other = base;
  other.vector.pop_back();
  ASSERT_REFUSED(kMalformed, apply(difference, other));
  DifferenceMessage damaged = difference;
  damaged.bytes = compress(Bytes(std::size_t{64} << 20)).value();
  ASSERT_REFUSED(kMalformed, apply(damaged, base));
  damaged = difference;
  damaged.digest[0] ^= 1;
  ASSERT_REFUSED(kWrongModel, apply(damaged, base));
}

TEST("Signed differences that leave the format are refused") {
  Fleet fleet;
  const auto good = encode(difference_between(long_model(7, 0), long_model(9, 1e-4F))).value();
  const auto refuse_with = [&](RefusalReason reason, const Bytes& from, const Bytes& to) {
    const auto difference = received_difference(fleet, changed(good, from, to));
    TEST_ASSERT_FALSE(difference.ok());
    TEST_ASSERT_TRUE(difference.error().reason == reason);
  };
  refuse_with(RefusalReason::kMalformed, bytes_of({0xaa, 0x01}), bytes_of({0xa9, 0x01}));
  refuse_with(RefusalReason::kMalformed, bytes_of({0x06, 0x05, 0x07}),
              bytes_of({0x06, 0x00, 0x07}));  // no steps
  refuse_with(RefusalReason::kMalformed, bytes_of({0x07, 0x07, 0x08, 0x58, 0x20}),
              bytes_of({0x07, 0x07, 0x08, 0x58, 0x1f}));
  refuse_with(RefusalReason::kUnsupported, bytes_of({0x09, 0x00, 0x0a}), bytes_of({0x09, 0x01, 0x0a}));
  Payload longer = good;
  longer.bytes.push_back(std::byte{0});
  ASSERT_REFUSED(kMalformed, received_difference(fleet, longer));
  Payload old = good;
  old.format = 1;
  ASSERT_REFUSED(kUnsupported, received_difference(fleet, old));
}
