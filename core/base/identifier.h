#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

inline constexpr std::size_t kMaxIdentifierLength = 64;

/// Names of fleets and devices: a letter or digit, then letters, digits, '.', '_' and '-', 64 at most. Such a
/// name is one level of a topic, one file name and one certificate subject, without any escaping.
[[nodiscard]] bool is_identifier(std::string_view text);

/// kInvalidInput that names `what` when `text` is not an identifier.
[[nodiscard]] Status check_identifier(std::string_view what, std::string_view text);

}  // namespace aflguard
