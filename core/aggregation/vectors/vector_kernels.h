#pragma once

#include <cstddef>
#include <span>

namespace aflguard {

// The passes over memory that every update costs. Sums are double, taken over 32 interleaved lanes that are
// then added in a fixed order, so a result depends on the numbers only: not on alignment, on the instruction
// set chosen at run time, or on the machine. A NaN or an infinity in the input makes the result NaN or
// infinite; finite floats cannot overflow a double sum. All spans of one call have the same length.

/// Sum of a_i^2.
[[nodiscard]] double squared_norm(std::span<const float> a);

/// Sum of (a_i - b_i)^2; each difference is rounded to float first.
[[nodiscard]] double squared_distance(std::span<const float> a, std::span<const float> b);

struct DotAndNorm {
  double dot = 0;           ///< sum of a_i b_i
  double squared_norm = 0;  ///< sum of a_i^2
};
[[nodiscard]] DotAndNorm dot_and_norm(std::span<const float> a, std::span<const float> b);

/// next_i = theta_i - rate * direction_i. `next` may be `theta` itself, but not overlap it otherwise.
void take_step(std::span<const float> theta, std::span<const float> direction, float rate,
               std::span<float> next);

/// squared_norm(direction) and take_step() in one pass over memory.
[[nodiscard]] double norm_and_step(std::span<const float> direction, std::span<const float> theta, float rate,
                                   std::span<float> next);

/// squared_distance(direction, reference) and take_step() in one pass over memory.
[[nodiscard]] double distance_and_step(std::span<const float> direction, std::span<const float> reference,
                                       std::span<const float> theta, float rate, std::span<float> next);

/// Largest |a_i|; 0 when empty; NaN or infinity are not skipped.
[[nodiscard]] float largest_magnitude(std::span<const float> a);

}  // namespace aflguard
