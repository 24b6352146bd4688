#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/config/config_value.h"

namespace aflguard {

/// The text of a TOML file as a tree. `name` is the file's, for errors: "NAME:LINE: what is wrong".
[[nodiscard]] Result<ConfigValue> parse_toml(std::string_view text, const std::string& name);

}  // namespace aflguard
