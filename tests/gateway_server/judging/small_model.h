#pragma once

#include <cstddef>

#include "core/aggregation/aggregator.h"

namespace aflguard::testing {

/// The models of the judging tests are that large, and an update moves them by its value.
inline constexpr std::size_t kDimension = 3;

inline AggregatorOptions rate_one() {
  AggregatorOptions options;
  options.learning_rate = 1;
  return options;
}

}  // namespace aflguard::testing
