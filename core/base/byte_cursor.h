#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/base/result.h"

namespace aflguard {

/// Reads hostile bytes from front to back. Every read is bounds-checked; nothing is read twice by accident.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] std::size_t position() const { return position_; }

  /// The next `count` bytes, borrowed from the input; kCorrupt when fewer remain.
  [[nodiscard]] Result<std::span<const std::byte>> take(std::size_t count) {
    if (count > remaining()) {
      return corrupt("needs " + std::to_string(count) + " bytes at offset " + std::to_string(position_) +
                     ", only " + std::to_string(remaining()) + " remain");
    }
    auto view = bytes_.subspan(position_, count);
    position_ += count;
    return view;
  }

  template <typename T>
  [[nodiscard]] Result<T> take_little_endian() {
    return take_number<T, std::endian::little>();
  }
  template <typename T>
  [[nodiscard]] Result<T> take_big_endian() {
    return take_number<T, std::endian::big>();
  }

 private:
  template <typename T, std::endian order>
  [[nodiscard]] Result<T> take_number() {
    static_assert(std::is_arithmetic_v<T>);
    TRY(auto raw, take(sizeof(T)));
    std::byte buffer[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      buffer[i] = raw[order == std::endian::native ? i : sizeof(T) - 1 - i];
    }
    T number;
    std::memcpy(&number, buffer, sizeof(T));
    return number;
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

/// Appends to a byte vector owned by the caller.
template <typename Container>
class ByteWriter {
 public:
  explicit ByteWriter(Container& out) : out_(out) {}

  void put(std::span<const std::byte> bytes) {
    for (std::byte b : bytes) out_.push_back(static_cast<typename Container::value_type>(b));
  }
  template <typename T>
  void put_little_endian(T number) {
    put_number<T, std::endian::little>(number);
  }
  template <typename T>
  void put_big_endian(T number) {
    put_number<T, std::endian::big>(number);
  }

 private:
  template <typename T, std::endian order>
  void put_number(T number) {
    static_assert(std::is_arithmetic_v<T>);
    std::byte buffer[sizeof(T)];
    std::memcpy(buffer, &number, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      out_.push_back(static_cast<typename Container::value_type>(
          buffer[order == std::endian::native ? i : sizeof(T) - 1 - i]));
    }
  }

  Container& out_;
};

}  // namespace aflguard
