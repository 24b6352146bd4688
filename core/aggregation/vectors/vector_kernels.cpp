#include "core/aggregation/vectors/vector_kernels.h"

#include <cmath>
#include <cstdint>

#include "core/aggregation/vectors/vector_passes.h"
#include "core/base/check.h"
#include "core/kernels/instruction_set.h"

namespace aflguard {
namespace {

// Models this long do not fit caches: writing the next one past the cache saves reading its lines first.
constexpr std::size_t kStreamFrom = std::size_t{1} << 20;

const VectorPasses& passes() {
#if defined(__x86_64__)
  switch (chosen_instruction_set()) {
    case InstructionSet::kAvx512:
      return kAvx512Passes;
    case InstructionSet::kAvx2:
      return kAvx2Passes;
    case InstructionSet::kBaseline:
      break;
  }
#endif
  return kBaselinePasses;
}

/// Streaming stores need an aligned destination that is not read in the same pass.
bool should_stream(std::span<const float> theta, std::span<float> next) {
  return next.size() >= kStreamFrom && theta.data() != next.data() &&
         reinterpret_cast<std::uintptr_t>(next.data()) % 64 == 0;
}

}  // namespace

double squared_norm(std::span<const float> a) {
  return passes().squared_norm(a.data(), a.size());
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  check(a.size() == b.size(), "squared_distance of vectors of different length");
  return passes().squared_distance(a.data(), b.data(), a.size());
}

DotAndNorm dot_and_norm(std::span<const float> a, std::span<const float> b) {
  check(a.size() == b.size(), "dot_and_norm of vectors of different length");
  DotAndNorm result;
  passes().dot_and_norm(a.data(), b.data(), a.size(), &result.dot, &result.squared_norm);
  return result;
}

void take_step(std::span<const float> theta, std::span<const float> direction, float rate,
               std::span<float> next) {
  check(theta.size() == direction.size() && theta.size() == next.size(), "take_step of different lengths");
  passes().step(theta.data(), direction.data(), rate, next.data(), next.size());
}

double norm_and_step(std::span<const float> direction, std::span<const float> theta, float rate,
                     std::span<float> next) {
  check(theta.size() == direction.size() && theta.size() == next.size(),
        "norm_and_step of different lengths");
  return passes().norm_and_step(direction.data(), theta.data(), rate, next.data(), next.size(),
                                should_stream(theta, next));
}

double distance_and_step(std::span<const float> direction, std::span<const float> reference,
                         std::span<const float> theta, float rate, std::span<float> next) {
  check(theta.size() == direction.size() && theta.size() == next.size() && theta.size() == reference.size(),
        "distance_and_step of different lengths");
  return passes().distance_and_step(direction.data(), reference.data(), theta.data(), rate, next.data(),
                                    next.size(), should_stream(theta, next));
}

float largest_magnitude(std::span<const float> a) {
  float largest = 0;
  for (const float value : a) {
    const float magnitude = std::fabs(value);
    if (std::isnan(magnitude)) return magnitude;
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

}  // namespace aflguard
