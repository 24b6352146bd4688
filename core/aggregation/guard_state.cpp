#include "core/aggregation/guard_state.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/check.h"

namespace aflguard {
namespace {

constexpr std::size_t kTagSize = 4;

}  // namespace

StateWriter::StateWriter(std::string_view tag, std::uint16_t version) {
  check(tag.size() == kTagSize, "a state's tag has 4 characters");
  writer_.put(std::as_bytes(std::span(tag)));
  number(version);
}

void StateWriter::floats(std::span<const float> values) {
  if constexpr (std::endian::native == std::endian::little) {
    const auto raw = std::as_bytes(values);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  } else {
    for (const float value : values) number(value);
  }
}

void StateWriter::bytes(std::span<const std::byte> values) {
  number<std::uint64_t>(values.size());
  bytes_.insert(bytes_.end(), values.begin(), values.end());
}

Result<StateReader> StateReader::open(std::span<const std::byte> bytes, std::string_view tag,
                                      std::uint16_t version) {
  return open(bytes, tag, version, version);
}

Result<StateReader> StateReader::open(std::span<const std::byte> bytes, std::string_view tag,
                                      std::uint16_t oldest, std::uint16_t newest) {
  StateReader state(bytes, "state of '" + std::string(tag) + "'");
  auto found = state.reader_.take(kTagSize);
  if (!found) return at(state.tag_, found.error());
  const std::string_view name(reinterpret_cast<const char*>(found->data()), kTagSize);
  if (name != tag) return corrupt(state.tag_ + ": these bytes were saved by something else");
  TRY(state.version_, state.number<std::uint16_t>());
  if (state.version_ < oldest || state.version_ > newest) {
    return corrupt(
        state.tag_ + ": version " + std::to_string(state.version_) + ", this program reads version " +
        (oldest < newest ? std::to_string(oldest) + " to " : std::string()) + std::to_string(newest));
  }
  return state;
}

Status StateReader::expect(std::uint64_t expected, std::string_view what) {
  TRY(const auto found, number<std::uint64_t>());
  if (found == expected) return {};
  return corrupt(tag_ + ": " + std::string(what) + " is " + std::to_string(found) + ", expected " +
                 std::to_string(expected));
}

Result<std::size_t> StateReader::count(std::size_t bytes_each) {
  TRY(const auto found, number<std::uint64_t>());
  if (bytes_each > 0 && found > reader_.remaining() / bytes_each) {
    return corrupt(tag_ + ": announces " + std::to_string(found) + " entries, " +
                   std::to_string(reader_.remaining()) + " bytes remain");
  }
  return static_cast<std::size_t>(found);
}

Status StateReader::floats(std::span<float> values) {
  if (reader_.remaining() / sizeof(float) < values.size()) {
    return corrupt(tag_ + ": needs " + std::to_string(values.size()) + " floats, " +
                   std::to_string(reader_.remaining()) + " bytes remain");
  }
  for (float& value : values) {
    TRY(value, number<float>());
    if (!std::isfinite(value)) return corrupt(tag_ + ": holds a number that is not finite");
  }
  return {};
}

Result<std::span<const std::byte>> StateReader::bytes() {
  TRY(const std::size_t size, count(1));
  return reader_.take(size);
}

Status StateReader::finish() const {
  if (reader_.remaining() == 0) return {};
  return corrupt(tag_ + ": " + std::to_string(reader_.remaining()) + " bytes too many");
}

void save_rows(const RowBundle& rows, StateWriter& state) {
  state.number<std::uint64_t>(rows.rows());
  std::vector<float> row(rows.length());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    rows.copy_row(i, row);
    state.floats(row);
  }
}

Status restore_rows(StateReader& state, std::size_t length, RowBundle& rows) {
  TRY(const std::size_t count, state.count(std::max<std::size_t>(1, length) * sizeof(float)));
  rows = count > 0 ? RowBundle(count, length) : RowBundle();
  std::vector<float> row(length);
  for (std::size_t i = 0; i < count; ++i) {
    TRY_STATUS(state.floats(row));
    rows.set_row(i, row);
  }
  return {};
}

}  // namespace aflguard
