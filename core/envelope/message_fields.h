#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/cbor/cbor.h"
#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"

namespace aflguard {

/// One map entry: its key, then its value into `to`. A name is checked before it is copied.
[[nodiscard]] Status take_entry(CborReader& reader, std::int64_t key, std::uint64_t& to);
[[nodiscard]] Status take_entry(CborReader& reader, std::int64_t key, double& to);
[[nodiscard]] Status take_entry(CborReader& reader, std::int64_t key, bool& to);
[[nodiscard]] Status take_entry(CborReader& reader, std::int64_t key, std::string& to);
[[nodiscard]] Status take_entry(CborReader& reader, std::int64_t key, ModelHash& to);

template <typename Small>
[[nodiscard]] Status take_small_entry(CborReader& reader, std::int64_t key, Small& to) {
  std::uint64_t number = 0;
  TRY_STATUS(take_entry(reader, key, number));
  if (number > std::numeric_limits<Small>::max()) {
    return corrupt("entry " + std::to_string(key) + " is " + std::to_string(number) + ", at most " +
                   std::to_string(std::numeric_limits<Small>::max()) + " is allowed");
  }
  to = static_cast<Small>(number);
  return {};
}

/// The other way round.
void put_entry(CborWriter& writer, std::uint64_t key, std::uint64_t value);
void put_entry(CborWriter& writer, std::uint64_t key, double value);
void put_entry(CborWriter& writer, std::uint64_t key, bool value);
void put_entry(CborWriter& writer, std::uint64_t key, const std::string& value);
void put_entry(CborWriter& writer, std::uint64_t key, const ModelHash& value);

/// What an update has in front of its vector in every format: entries 1 to 6, and their ranges.
[[nodiscard]] Status check_update_head(const UpdateMessage& update);
void put_update_head(CborWriter& writer, const UpdateMessage& update);
[[nodiscard]] Status take_update_head(CborReader& reader, UpdateMessage& update);

/// The same for a model.
[[nodiscard]] Status check_model_head(const ModelMessage& model);
void put_model_head(CborWriter& writer, const ModelMessage& model);
[[nodiscard]] Status take_model_head(CborReader& reader, ModelMessage& model);

[[nodiscard]] Status check_sequence(std::uint64_t sequence);
/// kUnsupported for another type or format.
[[nodiscard]] Status check_type(const VerifiedPayload& payload, PayloadType wanted, std::uint8_t format);

}  // namespace aflguard
