#include "core/envelope/message_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "core/base/identifier.h"
#include "core/encoding/vector_codec.h"
#include "core/envelope/encoded_messages.h"
#include "core/envelope/message_fields.h"

// The grammar is in docs/wire-format.md.
namespace aflguard {

namespace {

constexpr std::uint64_t kFloat32LittleEndianTag = 85;
constexpr std::uint64_t kVerdictFields = 10;

Status check_vector(std::span<const float> vector) {
  if (vector.empty()) return invalid_input("vector is empty, needs at least one number");
  if (!all_finite(vector))
    return invalid_input("vector holds a NaN or an infinity; send finite numbers only");
  return {};
}

Status check_ranges(const VerdictMessage& verdict) {
  TRY_STATUS(check_identifier("fleet", verdict.fleet));
  TRY_STATUS(check_identifier("device", verdict.device));
  if (verdict.come_back < std::chrono::milliseconds::zero() || verdict.come_back > kLongestPause) {
    return invalid_input("the next update should come after " + std::to_string(verdict.come_back.count()) +
                         " ms, at most " + std::to_string(kLongestPause.count()) + " are allowed");
  }
  return check_sequence(verdict.sequence);
}

void put_vector_head(CborWriter& writer, std::span<const float> vector) {
  writer.put_tag(kFloat32LittleEndianTag);
  writer.put_bytes_head(vector.size_bytes());
}

void put_vector(CborWriter& writer, Bytes& out, std::span<const float> vector) {
  put_vector_head(writer, vector);
  static_assert(std::endian::native == std::endian::little, "floats are copied as they are in memory");
  const auto raw = std::as_bytes(vector);
  out.insert(out.end(), raw.begin(), raw.end());
}

Admitted<std::vector<float>> take_vector(CborReader& reader) {
  TRY_STATUS(reader.expect_tag(kFloat32LittleEndianTag));
  TRY(const auto raw, reader.take_bytes());
  if (raw.empty() || raw.size() % sizeof(float) != 0) {
    return corrupt("vector has " + std::to_string(raw.size()) + " bytes, needs a multiple of 4 above 0");
  }
  std::vector<float> vector(raw.size() / sizeof(float));
  std::memcpy(vector.data(), raw.data(), raw.size());
  if (!all_finite(vector)) {
    return refuse(RefusalReason::kNotFinite, "vector holds a NaN or an infinity");
  }
  return vector;
}

void put_model(CborWriter& writer, Bytes& out, const ModelMessage& model) {
  writer.put_map(7);
  put_model_head(writer, model);
  writer.put_unsigned(7);
  put_vector(writer, out, model.vector);
}

Admitted<ModelMessage> take_model(CborReader& reader) {
  ModelMessage model;
  TRY_STATUS(reader.expect_map(7));
  TRY_STATUS(take_model_head(reader, model));
  TRY_STATUS(reader.expect_key(7));
  TRY(model.vector, take_vector(reader));
  return model;
}

}  // namespace

Result<BorrowedPayload> encode_borrowed(const UpdateMessage& update) {
  TRY_STATUS(check_update_head(update));
  TRY_STATUS(check_vector(update.vector));
  BorrowedPayload payload{PayloadType::kUpdate, {}, std::as_bytes(std::span(update.vector))};
  CborWriter writer(payload.fields);
  writer.put_map(7);
  put_update_head(writer, update);
  writer.put_unsigned(7);
  put_vector_head(writer, update.vector);
  return payload;
}

Result<Payload> encode(const UpdateMessage& update) {
  TRY(BorrowedPayload borrowed, encode_borrowed(update));
  Payload payload{borrowed.type, std::move(borrowed.fields)};
  payload.bytes.insert(payload.bytes.end(), borrowed.vector.begin(), borrowed.vector.end());
  return payload;
}

Result<Payload> encode(const ModelMessage& model) {
  TRY_STATUS(check_model_head(model));
  TRY_STATUS(check_vector(model.vector));
  Payload payload{PayloadType::kModel, {}};
  payload.bytes.reserve(max_envelope_for(model.vector.size()));
  CborWriter writer(payload.bytes);
  put_model(writer, payload.bytes, model);
  return payload;
}

Result<Payload> encode(const VerdictMessage& verdict) {
  TRY_STATUS(check_ranges(verdict));
  if (verdict.model) {
    TRY_STATUS(check_model_head(*verdict.model));
    TRY_STATUS(check_vector(verdict.model->vector));
  }
  const bool paced = verdict.come_back > std::chrono::milliseconds::zero();
  Payload payload{PayloadType::kVerdict, {}, paced ? kNewestFormat : kFirstFormat};
  payload.bytes.reserve(max_envelope_for(verdict.model ? verdict.model->vector.size() : 0));
  CborWriter writer(payload.bytes);
  writer.put_map(kVerdictFields + (verdict.model ? 1 : 0) + (paced ? 1 : 0));
  put_entry(writer, 1, verdict.fleet);
  put_entry(writer, 2, verdict.device);
  put_entry(writer, 3, verdict.sequence);
  put_entry(writer, 4, verdict.accepted);
  put_entry(writer, 5, std::uint64_t{verdict.reason});
  put_entry(writer, 6, verdict.distance);
  put_entry(writer, 7, verdict.bound);
  put_entry(writer, 8, verdict.version);
  put_entry(writer, 9, verdict.delay);
  put_entry(writer, 10, verdict.highest_sequence);
  if (verdict.model) {
    writer.put_unsigned(11);
    put_model(writer, payload.bytes, *verdict.model);
  }
  if (paced) put_entry(writer, 12, static_cast<std::uint64_t>(verdict.come_back.count()));
  return payload;
}

Admitted<UpdateMessage> decode_update(const VerifiedPayload& payload, const UpdateLimits& limits) {
  if (payload.format() > kFirstFormat) return decode_encoded_update(payload, limits);
  TRY_STATUS(check_type(payload, PayloadType::kUpdate, kFirstFormat));
  CborReader reader(payload.bytes());
  UpdateMessage update;
  TRY_STATUS(reader.expect_map(7));
  TRY_STATUS(take_update_head(reader, update));
  TRY_STATUS(reader.expect_key(7));
  TRY(update.vector, take_vector(reader));
  TRY_STATUS(reader.expect_end());
  return update;
}

Admitted<ModelMessage> decode_model(const VerifiedPayload& payload) {
  TRY_STATUS(check_type(payload, PayloadType::kModel, kFirstFormat));
  CborReader reader(payload.bytes());
  TRY(ModelMessage model, take_model(reader));
  TRY_STATUS(reader.expect_end());
  return model;
}

namespace {

/// Without a pause there is no format 2.
Status take_come_back(CborReader& reader, VerdictMessage& verdict) {
  std::uint64_t pause = 0;
  TRY_STATUS(take_entry(reader, 12, pause));
  if (pause == 0 || pause > static_cast<std::uint64_t>(kLongestPause.count())) {
    return corrupt("a pause of " + std::to_string(pause) + " ms is outside 1 to " +
                   std::to_string(kLongestPause.count()));
  }
  verdict.come_back = std::chrono::milliseconds(pause);
  return {};
}

}  // namespace

Admitted<VerdictMessage> decode_verdict(const VerifiedPayload& payload) {
  const bool paced = payload.format() == kNewestFormat;
  TRY_STATUS(check_type(payload, PayloadType::kVerdict, paced ? kNewestFormat : kFirstFormat));
  CborReader reader(payload.bytes());
  VerdictMessage verdict;
  TRY(const std::uint64_t fields, reader.take_map());
  const std::uint64_t without_model = kVerdictFields + (paced ? 1 : 0);
  if (fields != without_model && fields != without_model + 1) {
    return corrupt("verdict has " + std::to_string(fields) + " entries, needs " +
                   std::to_string(without_model) + " or one more");
  }
  TRY_STATUS(take_entry(reader, 1, verdict.fleet));
  TRY_STATUS(take_entry(reader, 2, verdict.device));
  TRY_STATUS(take_entry(reader, 3, verdict.sequence));
  TRY_STATUS(take_entry(reader, 4, verdict.accepted));
  TRY_STATUS(take_small_entry(reader, 5, verdict.reason));
  TRY_STATUS(take_entry(reader, 6, verdict.distance));
  TRY_STATUS(take_entry(reader, 7, verdict.bound));
  TRY_STATUS(take_entry(reader, 8, verdict.version));
  TRY_STATUS(take_entry(reader, 9, verdict.delay));
  TRY_STATUS(take_entry(reader, 10, verdict.highest_sequence));
  TRY_STATUS(check_ranges(verdict));
  if (fields > without_model) {
    TRY_STATUS(reader.expect_key(11));
    TRY(verdict.model, take_model(reader));
  }
  if (paced) TRY_STATUS(take_come_back(reader, verdict));
  TRY_STATUS(reader.expect_end());
  return verdict;
}

}  // namespace aflguard
