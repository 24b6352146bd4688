#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace aflguard {

/// One mini-batch, borrowed from its owner for the time of a call.
/// Exactly one of `labels` (classification) and `values` (regression) is filled, as the model's loss demands.
struct Batch {
  std::size_t size = 0;             ///< number of samples, B
  std::span<const float> features;  ///< B * input_size, row-major [B, input_shape...]; ids are whole numbers
  std::span<const std::int64_t> labels;  ///< B class numbers, for cross-entropy
  std::span<const float> values;         ///< B * output_size, for mean squared error
};

}  // namespace aflguard
