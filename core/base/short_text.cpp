#include "core/base/short_text.h"

namespace aflguard {
namespace {

constexpr std::string_view kDots = "...";
constexpr std::size_t kShownDigits = 12;  // of a hash: enough to tell models apart

bool continues_a_character(char letter) {
  return (static_cast<unsigned char>(letter) & 0xC0) == 0x80;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most - kDots.size();
  while (end > 0 && continues_a_character(text[end])) --end;
  return std::string(text.substr(0, end)).append(kDots);
}

std::string short_hash(std::string_view hex) {
  return shortened(hex, kShownDigits + kDots.size());
}

}  // namespace aflguard
