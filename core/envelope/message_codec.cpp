#include "core/envelope/message_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "core/base/identifier.h"

// The grammar is in docs/wire-format.md.
namespace aflguard {

namespace {

constexpr std::uint64_t kFloat32LittleEndianTag = 85;
constexpr std::uint64_t kVerdictFields = 10;

/// True when no value is a NaN or an infinity: their exponent bits are all ones. No branch per value, so that
/// the compiler can take several at once.
bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  unsigned bad = 0;
  for (const float value : values) {
    bad |= static_cast<unsigned>((std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent);
  }
  return bad == 0;
}

Status check_vector(std::span<const float> vector) {
  if (vector.empty()) return invalid_input("vector is empty, needs at least one number");
  if (!all_finite(vector))
    return invalid_input("vector holds a NaN or an infinity; send finite numbers only");
  return {};
}

Status check_sequence(std::uint64_t sequence) {
  if (sequence > 0) return {};
  return invalid_input("sequence number is 0; the first one is 1");
}

Status check_ranges(const UpdateMessage& update) {
  TRY_STATUS(check_identifier("fleet", update.fleet));
  return check_sequence(update.sequence);
}

Status check_ranges(const ModelMessage& model) {
  TRY_STATUS(check_identifier("fleet", model.fleet));
  if (model.batch_size == 0) return invalid_input("batch size is 0, needs at least 1");
  if (model.local_steps == 0) return invalid_input("local steps are 0, needs at least 1");
  if (!(model.learning_rate > 0) || !std::isfinite(model.learning_rate)) {
    return invalid_input("learning rate is " + std::to_string(model.learning_rate) +
                         ", needs a finite number above 0");
  }
  return {};
}

Status check_ranges(const VerdictMessage& verdict) {
  TRY_STATUS(check_identifier("fleet", verdict.fleet));
  TRY_STATUS(check_identifier("device", verdict.device));
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

/// One map entry: its key, then its value into `to`.
Status take_entry(CborReader& reader, std::int64_t key, std::uint64_t& to) {
  TRY_STATUS(reader.expect_key(key));
  TRY(to, reader.take_unsigned());
  return {};
}

template <typename Small>
Status take_small_entry(CborReader& reader, std::int64_t key, Small& to) {
  std::uint64_t number = 0;
  TRY_STATUS(take_entry(reader, key, number));
  if (number > std::numeric_limits<Small>::max()) {
    return corrupt("entry " + std::to_string(key) + " is " + std::to_string(number) + ", at most " +
                   std::to_string(std::numeric_limits<Small>::max()) + " is allowed");
  }
  to = static_cast<Small>(number);
  return {};
}

Status take_entry(CborReader& reader, std::int64_t key, double& to) {
  TRY_STATUS(reader.expect_key(key));
  TRY(to, reader.take_double());
  return {};
}

Status take_entry(CborReader& reader, std::int64_t key, bool& to) {
  TRY_STATUS(reader.expect_key(key));
  TRY(to, reader.take_bool());
  return {};
}

/// Names are checked before they are copied: a text of any length may stand here.
Status take_entry(CborReader& reader, std::int64_t key, std::string& to) {
  TRY_STATUS(reader.expect_key(key));
  TRY(const std::string_view text, reader.take_text());
  TRY_STATUS(check_identifier("entry " + std::to_string(key), text));
  to = text;
  return {};
}

Status take_entry(CborReader& reader, std::int64_t key, ModelHash& to) {
  TRY_STATUS(reader.expect_key(key));
  TRY(const auto hash, reader.take_bytes());
  if (hash.size() != to.size()) {
    return corrupt("model hash has " + std::to_string(hash.size()) + " bytes, needs 32");
  }
  std::copy(hash.begin(), hash.end(), std::as_writable_bytes(std::span(to)).begin());
  return {};
}

/// ... and the other way round.
void put_entry(CborWriter& writer, std::uint64_t key, std::uint64_t value) {
  writer.put_unsigned(key);
  writer.put_unsigned(value);
}

void put_entry(CborWriter& writer, std::uint64_t key, double value) {
  writer.put_unsigned(key);
  writer.put_double(value);
}

void put_entry(CborWriter& writer, std::uint64_t key, bool value) {
  writer.put_unsigned(key);
  writer.put_bool(value);
}

void put_entry(CborWriter& writer, std::uint64_t key, const std::string& value) {
  writer.put_unsigned(key);
  writer.put_text(value);
}

void put_entry(CborWriter& writer, std::uint64_t key, const ModelHash& value) {
  writer.put_unsigned(key);
  writer.put_bytes(std::as_bytes(std::span(value)));
}

void put_model(CborWriter& writer, Bytes& out, const ModelMessage& model) {
  writer.put_map(7);
  put_entry(writer, 1, model.fleet);
  put_entry(writer, 2, model.version);
  put_entry(writer, 3, model.model_hash);
  put_entry(writer, 4, std::uint64_t{model.batch_size});
  put_entry(writer, 5, model.learning_rate);
  put_entry(writer, 6, std::uint64_t{model.local_steps});
  writer.put_unsigned(7);
  put_vector(writer, out, model.vector);
}

Admitted<ModelMessage> take_model(CborReader& reader) {
  ModelMessage model;
  TRY_STATUS(reader.expect_map(7));
  TRY_STATUS(take_entry(reader, 1, model.fleet));
  TRY_STATUS(take_entry(reader, 2, model.version));
  TRY_STATUS(take_entry(reader, 3, model.model_hash));
  TRY_STATUS(take_small_entry(reader, 4, model.batch_size));
  TRY_STATUS(take_entry(reader, 5, model.learning_rate));
  TRY_STATUS(take_small_entry(reader, 6, model.local_steps));
  TRY_STATUS(check_ranges(model));
  TRY_STATUS(reader.expect_key(7));
  TRY(model.vector, take_vector(reader));
  return model;
}

Status check_type(const VerifiedPayload& payload, PayloadType wanted) {
  if (payload.type() == wanted) return {};
  return unsupported("payload is " + std::string(content_type(payload.type())) + ", needs " +
                     std::string(content_type(wanted)));
}

}  // namespace

Result<BorrowedPayload> encode_borrowed(const UpdateMessage& update) {
  TRY_STATUS(check_ranges(update));
  TRY_STATUS(check_vector(update.vector));
  BorrowedPayload payload{PayloadType::kUpdate, {}, std::as_bytes(std::span(update.vector))};
  CborWriter writer(payload.fields);
  writer.put_map(7);
  put_entry(writer, 1, update.fleet);
  put_entry(writer, 2, update.model_hash);
  put_entry(writer, 3, update.base_version);
  put_entry(writer, 4, update.sequence);
  put_entry(writer, 5, update.samples);
  put_entry(writer, 6, update.loss);
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
  TRY_STATUS(check_ranges(model));
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
    TRY_STATUS(check_ranges(*verdict.model));
    TRY_STATUS(check_vector(verdict.model->vector));
  }
  Payload payload{PayloadType::kVerdict, {}};
  payload.bytes.reserve(max_envelope_for(verdict.model ? verdict.model->vector.size() : 0));
  CborWriter writer(payload.bytes);
  writer.put_map(kVerdictFields + (verdict.model ? 1 : 0));
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
  return payload;
}

Admitted<UpdateMessage> decode_update(const VerifiedPayload& payload) {
  TRY_STATUS(check_type(payload, PayloadType::kUpdate));
  CborReader reader(payload.bytes());
  UpdateMessage update;
  TRY_STATUS(reader.expect_map(7));
  TRY_STATUS(take_entry(reader, 1, update.fleet));
  TRY_STATUS(take_entry(reader, 2, update.model_hash));
  TRY_STATUS(take_entry(reader, 3, update.base_version));
  TRY_STATUS(take_entry(reader, 4, update.sequence));
  TRY_STATUS(take_entry(reader, 5, update.samples));
  TRY_STATUS(take_entry(reader, 6, update.loss));
  TRY_STATUS(check_ranges(update));
  TRY_STATUS(reader.expect_key(7));
  TRY(update.vector, take_vector(reader));
  TRY_STATUS(reader.expect_end());
  return update;
}

Admitted<ModelMessage> decode_model(const VerifiedPayload& payload) {
  TRY_STATUS(check_type(payload, PayloadType::kModel));
  CborReader reader(payload.bytes());
  TRY(ModelMessage model, take_model(reader));
  TRY_STATUS(reader.expect_end());
  return model;
}

Admitted<VerdictMessage> decode_verdict(const VerifiedPayload& payload) {
  TRY_STATUS(check_type(payload, PayloadType::kVerdict));
  CborReader reader(payload.bytes());
  VerdictMessage verdict;
  TRY(const std::uint64_t fields, reader.take_map());
  if (fields != kVerdictFields && fields != kVerdictFields + 1) {
    return corrupt("verdict has " + std::to_string(fields) + " entries, needs 10 or 11");
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
  if (fields > kVerdictFields) {
    TRY_STATUS(reader.expect_key(11));
    TRY(verdict.model, take_model(reader));
  }
  TRY_STATUS(reader.expect_end());
  return verdict;
}

}  // namespace aflguard
