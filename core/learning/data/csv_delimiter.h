#pragma once

#include <string_view>

namespace aflguard {

/// What separates the fields of a table that begins with `head`: ; tab | , or ' ' (runs of blanks), the first
/// one that gives the first lines the same two or more columns. ',' when none does.
[[nodiscard]] char find_delimiter(std::string_view head);

}  // namespace aflguard
