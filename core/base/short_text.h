#pragma once

#include <string>
#include <string_view>

namespace aflguard {

/// `text`, or its beginning and "..." in at most `most` bytes (3 or more). Never cut inside a UTF-8
/// character.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

}  // namespace aflguard
