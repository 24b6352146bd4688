#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

/// One number that something pluggable can be tuned with: name, default, allowed range and meaning.
struct NamedOption {
  std::string_view name;
  double default_value = 0;
  double low = 0;
  double high = 0;
  std::string_view meaning;
};

/// Chosen values by name; what is missing takes its default.
using OptionValues = std::map<std::string, double>;

[[nodiscard]] inline double option_or(const OptionValues& values, const std::string& name,
                                      double default_value) {
  const auto found = values.find(name);
  return found == values.end() ? default_value : found->second;
}

/// kInvalidInput when a value's name is not among `known` (with the nearest one) or it is out of its range.
[[nodiscard]] Status check_options(std::string_view owner, std::span<const NamedOption> known,
                                   const OptionValues& values);

/// Values out of texts NAME=NUMBER; kInvalidInput for the first that is not of that form.
[[nodiscard]] Result<OptionValues> parse_options(std::span<const std::string> pairs);

/// The same values with those that are missing at their defaults.
[[nodiscard]] OptionValues with_defaults(std::span<const NamedOption> known, OptionValues values);

}  // namespace aflguard
