#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/byte_cursor.h"
#include "core/base/bytes.h"
#include "core/base/result.h"

namespace aflguard {

/// Appends deterministic CBOR (RFC 8949, 4.2): definite lengths and shortest heads; doubles always take nine
/// bytes. The caller writes as many items as it announced, map keys in ascending order.
class CborWriter final {
 public:
  explicit CborWriter(Bytes& out) : out_(out) {}

  void put_unsigned(std::uint64_t value);
  void put_integer(std::int64_t value);
  void put_bytes(std::span<const std::byte> bytes);
  /// The head of a byte string whose `size` bytes the caller appends itself.
  void put_bytes_head(std::uint64_t size);
  void put_text(std::string_view text);
  void put_array(std::uint64_t items);
  void put_map(std::uint64_t pairs);
  void put_tag(std::uint64_t tag);
  void put_bool(bool value);
  void put_double(double value);

 private:
  Bytes& out_;
};

/// Reads hostile CBOR from front to back, one expected item at a time, and allocates nothing: strings are
/// borrowed from the input. kCorrupt for another type, an indefinite length, a head longer than it need be,
/// or an item that reaches over the end.
class CborReader final {
 public:
  explicit CborReader(std::span<const std::byte> bytes) : bytes_(bytes), cursor_(bytes) {}

  [[nodiscard]] Result<std::uint64_t> take_unsigned();
  [[nodiscard]] Result<std::int64_t> take_integer();
  [[nodiscard]] Result<std::span<const std::byte>> take_bytes();
  [[nodiscard]] Result<std::string_view> take_text();
  [[nodiscard]] Result<bool> take_bool();
  [[nodiscard]] Result<double> take_double();
  /// The number of pairs of the map that follows.
  [[nodiscard]] Result<std::uint64_t> take_map();

  [[nodiscard]] Status expect_array(std::uint64_t items);
  [[nodiscard]] Status expect_map(std::uint64_t pairs);
  [[nodiscard]] Status expect_tag(std::uint64_t tag);
  /// The next map key. Keys are written in ascending order, so expecting each one refuses repeats too.
  [[nodiscard]] Status expect_key(std::int64_t key);
  /// kCorrupt when bytes are left over.
  [[nodiscard]] Status expect_end() const;

  /// Bytes read so far.
  [[nodiscard]] std::size_t position() const { return cursor_.position(); }

 private:
  struct Item;
  [[nodiscard]] Result<Item> take_item(int kind);

  std::span<const std::byte> bytes_;
  ByteReader cursor_;
};

}  // namespace aflguard
