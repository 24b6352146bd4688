#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace aflguard {

/// A number in five digits, which are enough to look at; null when it is not finite.
[[nodiscard]] nlohmann::ordered_json short_number(double number);
/// ... or not known.
[[nodiscard]] nlohmann::ordered_json short_number(const std::optional<double>& number);

}  // namespace aflguard
