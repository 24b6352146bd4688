#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/aggregation/vectors/row_bundle.h"
#include "core/base/byte_cursor.h"
#include "core/base/result.h"

namespace aflguard {

// Saved state, little-endian: 4 bytes tag, u16 version, then what the owner writes. Floats in it are finite.

/// Builds the bytes of one saved state.
class StateWriter final {
 public:
  /// `tag` has 4 characters and names the owner of the state.
  StateWriter(std::string_view tag, std::uint16_t version);

  template <typename T>
  void number(T value) {
    writer_.put_little_endian(value);
  }
  /// Room for what is about to be written: otherwise a long vector is moved when something follows it.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  void floats(std::span<const float> values);
  void bytes(std::span<const std::byte> values);  ///< u64 length, then the bytes
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  ByteWriter<std::vector<std::byte>> writer_{bytes_};
};

/// u64 rows, then row by row.
void save_rows(const RowBundle& rows, StateWriter& state);

/// Reads them back. Every failure is kCorrupt and names the owner.
class StateReader final {
 public:
  /// Refuses another tag or version.
  [[nodiscard]] static Result<StateReader> open(std::span<const std::byte> bytes, std::string_view tag,
                                                std::uint16_t version);
  /// Any version from `oldest` to `newest`; version() tells which.
  [[nodiscard]] static Result<StateReader> open(std::span<const std::byte> bytes, std::string_view tag,
                                                std::uint16_t oldest, std::uint16_t newest);
  [[nodiscard]] std::uint16_t version() const { return version_; }

  template <typename T>
  [[nodiscard]] Result<T> number() {
    auto value = reader_.take_little_endian<T>();
    if (!value) return at(tag_, value.error());
    return value;
  }
  /// A u64 that must equal `expected`, as `what` says in the error.
  [[nodiscard]] Status expect(std::uint64_t expected, std::string_view what);
  /// A u64 count of things that take at least `bytes_each` bytes: more than remain is refused before a reader
  /// allocates.
  [[nodiscard]] Result<std::size_t> count(std::size_t bytes_each);
  /// Exactly values.size() finite floats.
  [[nodiscard]] Status floats(std::span<float> values);
  [[nodiscard]] Result<std::span<const std::byte>> bytes();
  /// Nothing may follow.
  [[nodiscard]] Status finish() const;

 private:
  StateReader(std::span<const std::byte> bytes, std::string tag) : reader_(bytes), tag_(std::move(tag)) {}
  ByteReader reader_;
  std::string tag_;
  std::uint16_t version_ = 0;
};

/// What save_rows() wrote; the rows have `length` numbers.
[[nodiscard]] Status restore_rows(StateReader& state, std::size_t length, RowBundle& rows);

}  // namespace aflguard
