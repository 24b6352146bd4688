#include "firmware_sim/links/board_link.h"

#include <algorithm>
#include <charconv>

namespace aflguard::sim {
namespace {

constexpr double kLargestPortion = 0.25;  // seconds' worth
constexpr std::string_view kSlow = "slow ";

}  // namespace

std::string to_text(const LinkState& state) {
  if (state.cut) return "cut";
  return state.bytes_per_second == 0 ? "open" : std::string(kSlow) + std::to_string(state.bytes_per_second);
}

Result<LinkState> parse_link_state(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text == "open") return LinkState{};
  if (text == "cut") return LinkState{.cut = true};
  if (text.starts_with(kSlow)) {
    LinkState state;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + kSlow.size(), end, state.bytes_per_second);
    if (parsed.ec == std::errc() && parsed.ptr == end && state.bytes_per_second > 0) return state;
  }
  return corrupt("'" + std::string(text.substr(0, 40)) + "' is not a state of a link (open, cut, slow N)");
}

std::uint64_t ByteAllowance::available(std::uint64_t bytes_per_second, double seconds) {
  const auto rate = static_cast<double>(bytes_per_second);
  if (last_ >= 0) tokens_ += rate * std::max(0.0, seconds - last_);
  last_ = seconds;
  tokens_ = std::min(tokens_, std::max(1.0, rate * kLargestPortion));
  return tokens_ < 1 ? 0 : static_cast<std::uint64_t>(tokens_);
}

void ByteAllowance::spend(std::uint64_t bytes) {
  tokens_ -= static_cast<double>(bytes);
}

}  // namespace aflguard::sim
