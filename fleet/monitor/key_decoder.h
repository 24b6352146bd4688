#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aflguard::view {

enum class KeyKind : std::uint8_t {
  kCharacter,
  kEnter,
  kEscape,
  kBackspace,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
};

struct Key {
  KeyKind kind = KeyKind::kCharacter;
  char character = 0;  ///< printable ASCII, for kCharacter

  friend bool operator==(const Key&, const Key&) = default;
};

/// Bytes of a terminal to keys. A lone Escape and the beginning of a sequence look the same until more bytes
/// come, or none for a moment: then call flush().
class KeyDecoder final {
 public:
  [[nodiscard]] std::vector<Key> feed(std::string_view bytes);
  [[nodiscard]] std::vector<Key> flush();
  /// True while flush() may bring a key.
  [[nodiscard]] bool pending() const { return !waiting_.empty(); }

 private:
  std::string waiting_;
};

}  // namespace aflguard::view
