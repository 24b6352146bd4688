#include "fleet/monitor/key_decoder.h"

#include <optional>
#include <utility>

namespace aflguard::view {
namespace {

/// Longer sequences than any key has are dropped.
constexpr std::size_t kMaxSequence = 16;

bool ends_sequence(char byte) {
  return byte >= '@' && byte <= '~';
}

/// What ESC [ ... or ESC O ... means; none for keys that are not needed here.
std::optional<Key> named(std::string_view sequence) {
  constexpr std::pair<std::string_view, KeyKind> kNames[] = {
      {"[A", KeyKind::kUp},      {"OA", KeyKind::kUp},        {"[B", KeyKind::kDown}, {"OB", KeyKind::kDown},
      {"[5~", KeyKind::kPageUp}, {"[6~", KeyKind::kPageDown}, {"[H", KeyKind::kHome}, {"OH", KeyKind::kHome},
      {"[1~", KeyKind::kHome},   {"[7~", KeyKind::kHome},     {"[F", KeyKind::kEnd},  {"OF", KeyKind::kEnd},
      {"[4~", KeyKind::kEnd},    {"[8~", KeyKind::kEnd},
  };
  for (const auto& [name, kind] : kNames) {
    if (name == sequence) return Key{kind};
  }
  return std::nullopt;
}

std::optional<Key> single(char byte) {
  if (byte == '\r' || byte == '\n') return Key{KeyKind::kEnter};
  if (byte == '\x7f' || byte == '\b') return Key{KeyKind::kBackspace};
  if (byte >= ' ' && byte <= '~') return Key{KeyKind::kCharacter, byte};
  return std::nullopt;
}

}  // namespace

std::vector<Key> KeyDecoder::feed(std::string_view bytes) {
  std::vector<Key> keys;
  const auto push = [&keys](const std::optional<Key>& key) {
    if (key) keys.push_back(*key);
  };
  for (const char byte : bytes) {
    if (waiting_.empty()) {
      if (byte == '\x1b') {
        waiting_ = byte;
      } else {
        push(single(byte));
      }
      continue;
    }
    if (waiting_.size() == 1 && byte != '[' && byte != 'O') {
      // Escape, and then something else.
      push(Key{KeyKind::kEscape});
      waiting_.clear();
      if (byte == '\x1b') {
        waiting_ = byte;
      } else {
        push(single(byte));
      }
      continue;
    }
    waiting_ += byte;
    if (waiting_.size() > 2 && ends_sequence(byte)) {
      push(named(std::string_view(waiting_).substr(1)));
      waiting_.clear();
    } else if (waiting_.size() > kMaxSequence) {
      waiting_.clear();
    }
  }
  return keys;
}

std::vector<Key> KeyDecoder::flush() {
  const bool escape = std::exchange(waiting_, {}) == "\x1b";
  return escape ? std::vector<Key>{Key{KeyKind::kEscape}} : std::vector<Key>{};
}

}  // namespace aflguard::view
