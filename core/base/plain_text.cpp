#include "core/base/plain_text.h"

#include <algorithm>

namespace aflguard {

std::string plain_text(std::string_view text, std::size_t limit) {
  std::string plain(text.substr(0, limit));
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return plain;
}

}  // namespace aflguard
