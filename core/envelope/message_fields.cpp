#include "core/envelope/message_fields.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/identifier.h"

// The grammar is in docs/wire-format.md.
namespace aflguard {

Status take_entry(CborReader& reader, std::int64_t key, std::uint64_t& to) {
  TRY_STATUS(reader.expect_key(key));
  TRY(to, reader.take_unsigned());
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

Status check_sequence(std::uint64_t sequence) {
  if (sequence > 0) return {};
  return invalid_input("sequence number is 0; the first one is 1");
}

Status check_update_head(const UpdateMessage& update) {
  TRY_STATUS(check_identifier("fleet", update.fleet));
  return check_sequence(update.sequence);
}

void put_update_head(CborWriter& writer, const UpdateMessage& update) {
  put_entry(writer, 1, update.fleet);
  put_entry(writer, 2, update.model_hash);
  put_entry(writer, 3, update.base_version);
  put_entry(writer, 4, update.sequence);
  put_entry(writer, 5, update.samples);
  put_entry(writer, 6, update.loss);
}

Status take_update_head(CborReader& reader, UpdateMessage& update) {
  TRY_STATUS(take_entry(reader, 1, update.fleet));
  TRY_STATUS(take_entry(reader, 2, update.model_hash));
  TRY_STATUS(take_entry(reader, 3, update.base_version));
  TRY_STATUS(take_entry(reader, 4, update.sequence));
  TRY_STATUS(take_entry(reader, 5, update.samples));
  TRY_STATUS(take_entry(reader, 6, update.loss));
  return check_update_head(update);
}

Status check_model_head(const ModelMessage& model) {
  TRY_STATUS(check_identifier("fleet", model.fleet));
  if (model.batch_size == 0) return invalid_input("batch size is 0, needs at least 1");
  if (model.local_steps == 0) return invalid_input("local steps are 0, needs at least 1");
  if (!(model.learning_rate > 0) || !std::isfinite(model.learning_rate)) {
    return invalid_input("learning rate is " + std::to_string(model.learning_rate) +
                         ", needs a finite number above 0");
  }
  return {};
}

void put_model_head(CborWriter& writer, const ModelMessage& model) {
  put_entry(writer, 1, model.fleet);
  put_entry(writer, 2, model.version);
  put_entry(writer, 3, model.model_hash);
  put_entry(writer, 4, std::uint64_t{model.batch_size});
  put_entry(writer, 5, model.learning_rate);
  put_entry(writer, 6, std::uint64_t{model.local_steps});
}

Status take_model_head(CborReader& reader, ModelMessage& model) {
  TRY_STATUS(take_entry(reader, 1, model.fleet));
  TRY_STATUS(take_entry(reader, 2, model.version));
  TRY_STATUS(take_entry(reader, 3, model.model_hash));
  TRY_STATUS(take_small_entry(reader, 4, model.batch_size));
  TRY_STATUS(take_entry(reader, 5, model.learning_rate));
  TRY_STATUS(take_small_entry(reader, 6, model.local_steps));
  return check_model_head(model);
}

Status check_type(const VerifiedPayload& payload, PayloadType wanted, std::uint8_t format) {
  if (payload.type() == wanted && payload.format() == format) return {};
  return unsupported("payload is " + std::string(content_type(payload.type())) + " in format " +
                     std::to_string(payload.format()) + ", needs " + std::string(content_type(wanted)) +
                     " in format " + std::to_string(format));
}

}  // namespace aflguard
