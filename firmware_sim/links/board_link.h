#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard::sim {

/// How a board's link to the broker is: open, cut as if its cable were pulled (nothing passes, and
/// neither side learns it), or slow. Of an open link only `open` counts.
struct LinkState {
  bool cut = false;
  std::uint64_t bytes_per_second = 0;  ///< 0: as fast as it goes

  [[nodiscard]] bool starved() const { return cut || bytes_per_second > 0; }
  friend bool operator==(const LinkState&, const LinkState&) = default;
};

/// "open", "cut", "slow N" (bytes per second), for a file that says how a link shall be.
[[nodiscard]] std::string to_text(const LinkState& state);
/// kCorrupt when it is none of these.
[[nodiscard]] Result<LinkState> parse_link_state(std::string_view text);

/// How many bytes may pass, so that there are at most `bytes_per_second`, in short portions.
class ByteAllowance final {
 public:
  /// `seconds` is any clock that does not go back.
  [[nodiscard]] std::uint64_t available(std::uint64_t bytes_per_second, double seconds);
  void spend(std::uint64_t bytes);

 private:
  double tokens_ = 0;
  double last_ = -1;
};

}  // namespace aflguard::sim
