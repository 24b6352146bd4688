#pragma once

#include <string>
#include <string_view>

namespace aflguard {

/// Text of others, made harmless for a terminal and a table: printable ASCII only, everything else becomes
/// '?', cut to `limit`.
[[nodiscard]] std::string plain_text(std::string_view text, std::size_t limit);

}  // namespace aflguard
