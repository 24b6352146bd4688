#pragma once

#include <string>
#include <string_view>

namespace aflguard {

/// `text`, or its beginning and "..." in at most `most` bytes (3 or more). Never cut inside a UTF-8
/// character.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

/// A hash in hex, as messages show it: "0123456789ab...".
[[nodiscard]] std::string short_hash(std::string_view hex);

}  // namespace aflguard
