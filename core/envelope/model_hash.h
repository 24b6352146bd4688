#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/envelope/messages.h"

namespace aflguard {

/// The 32 bytes behind the 64 hex digits of a model's layout hash; kInvalidInput for anything else.
[[nodiscard]] Result<ModelHash> parse_model_hash(std::string_view hex);

}  // namespace aflguard
