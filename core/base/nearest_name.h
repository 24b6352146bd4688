#pragma once

#include <span>
#include <string>
#include <string_view>

namespace aflguard {

/// The name with the fewest edits to `wrong`, or empty when none is close enough to be meant.
[[nodiscard]] std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> names);

/// One line for an error: "unknown WHAT 'WRONG'; did you mean 'NAME'? (known: ...)".
[[nodiscard]] std::string unknown_name(std::string_view what, std::string_view wrong,
                                       std::span<const std::string_view> names);

}  // namespace aflguard
