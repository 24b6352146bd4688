#pragma once

#include <cstdint>
#include <string_view>

namespace aflguard::models {

/// Samples with more steps are refused: the gradient of a recurrent layer has some nodes for every step.
inline constexpr std::int64_t kMaxSteps = 512;

/// Rows of a recurrent layer's weights, in multiples of its hidden size.
[[nodiscard]] constexpr std::int64_t gates_of(std::string_view op_type) {
  return op_type == "LSTM" ? 4 : op_type == "GRU" ? 3 : 1;
}

}  // namespace aflguard::models
