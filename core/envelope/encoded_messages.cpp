#include "core/envelope/encoded_messages.h"

#include <bit>

#include "core/base/identifier.h"
#include "core/base/sha256.h"
#include "core/envelope/message_fields.h"

// The grammar is in docs/wire-format.md.
namespace aflguard {
namespace {

constexpr std::uint8_t kFormat = 2;
constexpr std::uint64_t kUpdateFields = 10;
constexpr std::uint64_t kOfferFields = 4;
constexpr std::uint64_t kDifferenceFields = 10;

Error unknown(const std::string& what, std::uint64_t number) {
  return unsupported(what + " " + std::to_string(number) + " is not taken here");
}

/// Entries 7 to 10.
Result<EncodedView> take_encoded_vector(CborReader& reader, const EncodingSet& taken) {
  EncodedView view;
  std::uint64_t encoding = 0;
  std::uint64_t packing = 0;
  TRY_STATUS(take_entry(reader, 7, encoding));
  if (encoding >= kEncodings || !taken.has(static_cast<Encoding>(encoding))) {
    return unknown("encoding", encoding);
  }
  TRY_STATUS(take_entry(reader, 8, view.count));
  TRY_STATUS(take_entry(reader, 9, packing));
  if (packing >= kPackings || !taken.has(static_cast<Packing>(packing))) return unknown("packing", packing);
  TRY_STATUS(reader.expect_key(10));
  TRY(view.bytes, reader.take_bytes());
  view.encoding = static_cast<Encoding>(encoding);
  view.packing = static_cast<Packing>(packing);
  return view;
}

Refusal refusal_of(const Error& error) {
  if (error.kind == ErrorKind::kInvalidInput) return refuse(RefusalReason::kNotFinite, error.message);
  return refuse(RefusalReason::kMalformed, error.message);
}

}  // namespace

Result<BorrowedPayload> encode_compact_borrowed(const UpdateMessage& update, const EncodedVector& vector) {
  TRY_STATUS(check_update_head(update));
  if (vector.count == 0) return invalid_input("vector is empty, needs at least one number");
  BorrowedPayload payload{PayloadType::kUpdate, {}, vector.bytes, kFormat};
  CborWriter writer(payload.fields);
  writer.put_map(kUpdateFields);
  put_update_head(writer, update);
  put_entry(writer, 7, static_cast<std::uint64_t>(vector.encoding));
  put_entry(writer, 8, vector.count);
  put_entry(writer, 9, static_cast<std::uint64_t>(vector.packing));
  writer.put_unsigned(10);
  writer.put_bytes_head(vector.bytes.size());
  return payload;
}

Result<Payload> encode_compact(const UpdateMessage& update, const EncodedVector& vector) {
  TRY(BorrowedPayload borrowed, encode_compact_borrowed(update, vector));
  Payload payload{borrowed.type, std::move(borrowed.fields), borrowed.format};
  payload.bytes.insert(payload.bytes.end(), borrowed.vector.begin(), borrowed.vector.end());
  return payload;
}

Admitted<UpdateMessage> decode_encoded_update(const VerifiedPayload& payload, const UpdateLimits& limits) {
  TRY_STATUS(check_type(payload, PayloadType::kUpdate, kFormat));
  CborReader reader(payload.bytes());
  UpdateMessage update;
  TRY_STATUS(reader.expect_map(kUpdateFields));
  TRY_STATUS(take_update_head(reader, update));
  TRY(const EncodedView view, take_encoded_vector(reader, limits.taken));
  TRY_STATUS(reader.expect_end());
  auto vector = decode_vector(view, limits.numbers);
  if (!vector.ok()) return refusal_of(vector.error());
  update.vector = std::move(*vector);
  return update;
}

Result<Payload> encode(const OfferMessage& offer) {
  TRY_STATUS(check_identifier("fleet", offer.fleet));
  Payload payload{PayloadType::kOffer, {}, kFormat};
  CborWriter writer(payload.bytes);
  writer.put_map(kOfferFields);
  put_entry(writer, 1, offer.fleet);
  put_entry(writer, 2, offer.model_hash);
  put_entry(writer, 3, offer.taken.encodings);
  put_entry(writer, 4, offer.taken.packings);
  return payload;
}

Admitted<OfferMessage> decode_offer(const VerifiedPayload& payload) {
  TRY_STATUS(check_type(payload, PayloadType::kOffer, kFormat));
  CborReader reader(payload.bytes());
  OfferMessage offer;
  TRY_STATUS(reader.expect_map(kOfferFields));
  TRY_STATUS(take_entry(reader, 1, offer.fleet));
  TRY_STATUS(take_entry(reader, 2, offer.model_hash));
  TRY_STATUS(take_entry(reader, 3, offer.taken.encodings));
  TRY_STATUS(take_entry(reader, 4, offer.taken.packings));
  TRY_STATUS(reader.expect_end());
  return offer;
}

Result<Payload> encode(const DifferenceMessage& difference) {
  TRY_STATUS(check_model_head(difference.terms));
  Payload payload{PayloadType::kDifference, {}, kFormat};
  payload.bytes.reserve(difference.bytes.size() + kRoomForFields);
  CborWriter writer(payload.bytes);
  writer.put_map(kDifferenceFields);
  put_model_head(writer, difference.terms);
  put_entry(writer, 7, difference.base_version);
  put_entry(writer, 8, difference.digest);
  put_entry(writer, 9, static_cast<std::uint64_t>(difference.kind));
  writer.put_unsigned(10);
  writer.put_bytes(difference.bytes);
  return payload;
}

Admitted<DifferenceMessage> decode_difference(const VerifiedPayload& payload) {
  TRY_STATUS(check_type(payload, PayloadType::kDifference, kFormat));
  CborReader reader(payload.bytes());
  DifferenceMessage difference;
  TRY_STATUS(reader.expect_map(kDifferenceFields));
  TRY_STATUS(take_model_head(reader, difference.terms));
  TRY_STATUS(take_entry(reader, 7, difference.base_version));
  TRY_STATUS(take_entry(reader, 8, difference.digest));
  std::uint64_t kind = 0;
  TRY_STATUS(take_entry(reader, 9, kind));
  if (kind >= kDifferenceKinds) return unknown("difference", kind);
  difference.kind = static_cast<DifferenceKind>(kind);
  TRY_STATUS(reader.expect_key(10));
  TRY(const auto bytes, reader.take_bytes());
  TRY_STATUS(reader.expect_end());
  difference.bytes.assign(bytes.begin(), bytes.end());
  return difference;
}

std::array<std::uint8_t, 32> model_digest(std::span<const float> parameters) {
  static_assert(std::endian::native == std::endian::little, "floats are hashed as they are in memory");
  return sha256(std::as_bytes(parameters));
}

Admitted<ModelMessage> apply(const DifferenceMessage& difference, const ModelMessage& base) {
  if (difference.base_version != base.version) {
    return refuse(RefusalReason::kWrongModel,
                  "a difference to version " + std::to_string(difference.base_version) +
                      ", the model here is version " + std::to_string(base.version));
  }
  ModelMessage model = difference.terms;
  TRY(model.vector, apply_difference(difference.kind, difference.bytes, base.vector));
  if (model_digest(model.vector) != difference.digest) {
    return refuse(RefusalReason::kWrongModel, "a difference to another version " +
                                                  std::to_string(base.version) +
                                                  " than the one here: what it makes is not what was signed");
  }
  return model;
}

}  // namespace aflguard
