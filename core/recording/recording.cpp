#include "core/recording/recording.h"

#include <algorithm>
#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kHeaderTag = "RHDR";
constexpr std::string_view kReferenceTag = "RREF";
constexpr std::string_view kUpdateTag = "RUPD";
constexpr std::string_view kDepartureTag = "RGON";
constexpr std::uint16_t kVersion = 1;           // of headers and departures
constexpr std::uint16_t kReferenceVersion = 2;  // 1 had no classes
constexpr std::uint16_t kUpdateVersion = 2;     // 1 had no alterations

void put_text(StateWriter& out, std::string_view text) {
  out.bytes(std::as_bytes(std::span(text)));
}

Result<std::string> take_text(StateReader& in) {
  TRY(const auto bytes, in.bytes());
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

template <typename Floats>
Status take_floats(StateReader& in, Floats& floats) {
  TRY(const std::size_t count, in.count(sizeof(float)));
  floats.resize(count);
  return in.floats(floats);
}

void put_floats(StateWriter& out, std::span<const float> floats) {
  out.number<std::uint64_t>(floats.size());
  out.floats(floats);
}

Result<OptionValues> take_options(StateReader& in) {
  OptionValues options;
  TRY(const std::size_t count, in.count(sizeof(std::uint64_t) + sizeof(double)));
  for (std::size_t i = 0; i < count; ++i) {
    TRY(auto name, take_text(in));
    TRY(options[std::move(name)], in.number<double>());
  }
  return options;
}

Result<RecordingEntry> decode_header(std::span<const std::byte> bytes) {
  TRY(auto in, StateReader::open(bytes, kHeaderTag, kVersion));
  RecordingHeader header;
  TRY(header.fleet, take_text(in));
  TRY(header.model_hash, take_text(in));
  TRY(header.guard, take_text(in));
  TRY(header.guard_settings.dimension, in.number<std::uint64_t>());
  TRY(header.guard_settings.clients, in.number<std::uint64_t>());
  TRY(header.guard_settings.lambda, in.number<double>());
  TRY(header.guard_settings.options, take_options(in));
  TRY(header.aggregator.learning_rate, in.number<double>());
  TRY(header.aggregator.reference_interval, in.number<std::uint64_t>());
  TRY(header.aggregator.max_delay, in.number<std::uint64_t>());
  TRY(header.aggregator.history, in.number<std::uint64_t>());
  if (!(header.aggregator.learning_rate > 0)) return corrupt("recording: the learning rate is not positive");
  TRY(const auto state, in.bytes());
  header.state.assign(state.begin(), state.end());
  // The state holds at least one model: a dimension beyond it is damage, found before memory is allocated.
  if (header.guard_settings.dimension == 0 ||
      header.guard_settings.dimension > state.size() / sizeof(float)) {
    return corrupt("recording: impossible dimension " + std::to_string(header.guard_settings.dimension));
  }
  if (header.aggregator.history > std::size_t{1} << 20) return corrupt("recording: impossible history");
  TRY_STATUS(in.finish());
  return RecordingEntry(std::move(header));
}

Result<RecordingEntry> decode_reference(std::span<const std::byte> bytes) {
  TRY(auto in, StateReader::open(bytes, kReferenceTag, 1, kReferenceVersion));
  RecordedReference entry;
  TRY(entry.due_since, in.number<std::uint64_t>());
  TRY(entry.reference.version, in.number<std::uint64_t>());
  TRY_STATUS(take_floats(in, entry.reference.vector));
  if (in.version() > 1) {
    TRY_STATUS(restore_rows(in, entry.reference.vector.size(), entry.reference.per_class));
  }
  entry.reference.derive();
  TRY_STATUS(in.finish());
  return RecordingEntry(std::move(entry));
}

Result<RecordingEntry> decode_update(std::span<const std::byte> bytes) {
  TRY(auto in, StateReader::open(bytes, kUpdateTag, 1, kUpdateVersion));
  RecordedUpdate entry;
  TRY(entry.iteration, in.number<std::uint64_t>());
  TRY(entry.client, in.number<std::uint64_t>());
  TRY(entry.device, take_text(in));
  TRY(entry.sequence, in.number<std::uint64_t>());
  TRY(entry.base_version, in.number<std::uint64_t>());
  TRY(const auto accepted, in.number<std::uint8_t>());
  entry.verdict.accepted = accepted != 0;
  TRY(const auto reason, in.number<std::uint8_t>());
  entry.verdict.reason = static_cast<Reason>(reason);
  TRY(entry.verdict.distance, in.number<double>());
  TRY(entry.verdict.bound, in.number<double>());
  TRY(entry.verdict.delay, in.number<std::uint64_t>());
  TRY(entry.version, in.number<std::uint64_t>());
  if (in.version() > 1) {
    TRY(entry.verdict.altered, in.number<double>());
    TRY(entry.verdict.alterations, in.number<std::uint32_t>());
  }
  TRY_STATUS(take_floats(in, entry.vector));
  TRY_STATUS(in.finish());
  return RecordingEntry(std::move(entry));
}

Result<RecordingEntry> decode_departure(std::span<const std::byte> bytes) {
  TRY(auto in, StateReader::open(bytes, kDepartureTag, kVersion));
  RecordedDeparture entry;
  TRY(entry.client, in.number<std::uint64_t>());
  TRY_STATUS(in.finish());
  return RecordingEntry(entry);
}

}  // namespace

Bytes encode_entry(const RecordingHeader& header) {
  StateWriter out(kHeaderTag, kVersion);
  put_text(out, header.fleet);
  put_text(out, header.model_hash);
  put_text(out, header.guard);
  out.number<std::uint64_t>(header.guard_settings.dimension);
  out.number(header.guard_settings.clients);
  out.number(header.guard_settings.lambda);
  out.number<std::uint64_t>(header.guard_settings.options.size());
  for (const auto& [name, value] : header.guard_settings.options) {
    put_text(out, name);
    out.number(value);
  }
  out.number(header.aggregator.learning_rate);
  out.number(header.aggregator.reference_interval);
  out.number(header.aggregator.max_delay);
  out.number<std::uint64_t>(header.aggregator.history);
  out.bytes(header.state);
  return std::move(out).take();
}

Bytes encode_entry(const RecordedReference& entry) {
  StateWriter out(kReferenceTag, kReferenceVersion);
  out.number(entry.due_since);
  out.number(entry.reference.version);
  put_floats(out, entry.reference.vector);
  save_rows(entry.reference.per_class, out);
  return std::move(out).take();
}

Bytes encode_entry(const RecordedUpdate& entry, std::span<const float> vector) {
  StateWriter out(kUpdateTag, kUpdateVersion);
  out.number(entry.iteration);
  out.number(entry.client);
  put_text(out, entry.device);
  out.number(entry.sequence);
  out.number(entry.base_version);
  out.number<std::uint8_t>(entry.verdict.accepted ? 1 : 0);
  out.number(static_cast<std::uint8_t>(entry.verdict.reason));
  out.number(entry.verdict.distance);
  out.number(entry.verdict.bound);
  out.number(entry.verdict.delay);
  out.number(entry.version);
  out.number(entry.verdict.altered);
  out.number(entry.verdict.alterations);
  put_floats(out, vector);
  return std::move(out).take();
}

Bytes encode_entry(const RecordedDeparture& entry) {
  StateWriter out(kDepartureTag, kVersion);
  out.number(entry.client);
  return std::move(out).take();
}

Result<RecordingEntry> decode_entry(std::span<const std::byte> bytes) {
  const std::string_view tag(reinterpret_cast<const char*>(bytes.data()),
                             std::min(bytes.size(), kHeaderTag.size()));
  if (tag == kReferenceTag) return decode_reference(bytes);
  if (tag == kUpdateTag) return decode_update(bytes);
  if (tag == kDepartureTag) return decode_departure(bytes);
  return decode_header(bytes);
}

}  // namespace aflguard
