#include "core/base/identifier.h"

#include <algorithm>

namespace aflguard {

namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Bytes from outside must not reach a log or a terminal as they are.
std::string printable(std::string_view text) {
  std::string shown(text.substr(0, kMaxIdentifierLength));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > kMaxIdentifierLength ? shown + "..." : shown;
}

}  // namespace

bool is_identifier(std::string_view text) {
  if (text.empty() || text.size() > kMaxIdentifierLength || !is_alphanumeric(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

Status check_identifier(std::string_view what, std::string_view text) {
  if (is_identifier(text)) return {};
  return invalid_input(
      std::string(what) + " '" + printable(text) +
      "' is not a name: use 1 to 64 letters, digits, '.', '_', '-', a letter or digit first");
}

}  // namespace aflguard
