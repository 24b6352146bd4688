#include "core/aggregation/vector_kernels.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// This file is compiled with -ffp-contract=off: a fused multiply-add would round a step differently on
// machines that have it. Squares of floats are exact in double, so the sums do not mind.

namespace aflguard {
namespace {

constexpr std::size_t kWidth = 4;   // floats per vector that become doubles
constexpr std::size_t kGroups = 8;  // independent sums, enough to hide the latency of an addition
constexpr std::size_t kBlock = kWidth * kGroups;

// Models this long do not fit caches: writing the next one past the cache saves reading its lines first.
constexpr std::size_t kStreamFrom = std::size_t{1} << 20;

using Float4 = float __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));

#define AFLGUARD_INLINE __attribute__((always_inline)) inline

/// 32 running sums; element i of the input belongs to lane i mod 32.
struct Lanes {
  Double4 sum[kGroups] = {};

  AFLGUARD_INLINE void add_square(std::size_t group, const Float4& value) {
    const Double4 wide = __builtin_convertvector(value, Double4);
    sum[group] += wide * wide;
  }
  AFLGUARD_INLINE void add_product(std::size_t group, const Float4& a, const Float4& b) {
    sum[group] += __builtin_convertvector(a, Double4) * __builtin_convertvector(b, Double4);
  }
  [[nodiscard]] AFLGUARD_INLINE double total() const {
    const Double4 all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    return (all[0] + all[1]) + (all[2] + all[3]);
  }
};

AFLGUARD_INLINE void load(Float4& value, const float* from) {
  std::memcpy(&value, from, sizeof value);
}
AFLGUARD_INLINE void store(float* to, const Float4& value) {
  std::memcpy(to, &value, sizeof value);
}

/// Calls body(offset, group) for each full vector, then again on a zero-padded copy of the tail; padding adds
/// zeros to the sums. `inputs` are pointers that body reads through; `next` (may be null) is written through.
template <std::size_t inputs, typename Body>
AFLGUARD_INLINE void for_each_vector(const float* const (&from)[inputs], float* next, std::size_t count,
                                     Body&& body) {
  const std::size_t full = count / kBlock * kBlock;
  for (std::size_t i = 0; i < full; i += kBlock) {
#pragma GCC unroll 8
    for (std::size_t group = 0; group < kGroups; ++group) body(from, next, i + group * kWidth, group);
  }
  if (full == count) return;
  alignas(64) float padded[inputs][kBlock] = {};
  alignas(64) float padded_next[kBlock] = {};
  const float* tail[inputs];
  for (std::size_t k = 0; k < inputs; ++k) {
    std::memcpy(padded[k], from[k] + full, (count - full) * sizeof(float));
    tail[k] = padded[k];
  }
  const float* const(&tail_view)[inputs] = tail;
  for (std::size_t group = 0; group < kGroups; ++group) body(tail_view, padded_next, group * kWidth, group);
  if (next != nullptr) std::memcpy(next + full, padded_next, (count - full) * sizeof(float));
}

AFLGUARD_INLINE double squared_norm_body(const float* a, std::size_t count) {
  Lanes lanes;
  const float* const from[] = {a};
  for_each_vector(
      from, nullptr,
      count, [&](auto& in, float*, std::size_t i, std::size_t group) __attribute__((always_inline)) {
        Float4 va;
        load(va, in[0] + i);
        lanes.add_square(group, va);
      });
  return lanes.total();
}

AFLGUARD_INLINE double squared_distance_body(const float* a, const float* b, std::size_t count) {
  Lanes lanes;
  const float* const from[] = {a, b};
  for_each_vector(
      from, nullptr,
      count, [&](auto& in, float*, std::size_t i, std::size_t group) __attribute__((always_inline)) {
        Float4 va, vb;
        load(va, in[0] + i);
        load(vb, in[1] + i);
        lanes.add_square(group, va - vb);
      });
  return lanes.total();
}

AFLGUARD_INLINE DotAndNorm dot_and_norm_body(const float* a, const float* b, std::size_t count) {
  Lanes dot;
  Lanes norm;
  const float* const from[] = {a, b};
  for_each_vector(
      from, nullptr,
      count, [&](auto& in, float*, std::size_t i, std::size_t group) __attribute__((always_inline)) {
        Float4 va, vb;
        load(va, in[0] + i);
        load(vb, in[1] + i);
        dot.add_product(group, va, vb);
        norm.add_square(group, va);
      });
  return {dot.total(), norm.total()};
}

enum class Store : std::uint8_t { kCached, kStreaming };

/// One pass: next = theta - rate * g and, if wanted, the lanes of |g - reference|^2 or |g|^2.
template <bool sums, bool has_reference, Store how>
AFLGUARD_INLINE double step_body(const float* g, const float* reference, const float* theta, float rate,
                                 float* next, std::size_t count) {
  Lanes lanes;
  const Float4 rates = {rate, rate, rate, rate};
  const float* const from[] = {g, theta, has_reference ? reference : g};
  for_each_vector(
      from, next,
      count, [&](auto& in, float* out, std::size_t i, std::size_t group) __attribute__((always_inline)) {
        Float4 vg, vt;
        load(vg, in[0] + i);
        load(vt, in[1] + i);
        if constexpr (sums && has_reference) {
          Float4 vr;
          load(vr, in[2] + i);
          lanes.add_square(group, vg - vr);
        } else if constexpr (sums) {
          lanes.add_square(group, vg);
        }
        const Float4 result = vt - rates * vg;
#if defined(__x86_64__)
        if constexpr (how == Store::kStreaming) {
          _mm_stream_ps(out + i, result);
          return;
        }
#endif
        store(out + i, result);
      });
#if defined(__x86_64__)
  if constexpr (how == Store::kStreaming) _mm_sfence();
#endif
  return lanes.total();
}

AFLGUARD_INLINE float largest_magnitude_body(const float* a, std::size_t count) {
  float largest = 0;
  bool ordered = true;
  for (std::size_t i = 0; i < count; ++i) {
    const float magnitude = std::fabs(a[i]);
    largest = magnitude > largest ? magnitude : largest;
    ordered &= magnitude == magnitude;
  }
  return ordered ? largest : std::nanf("");
}

// Each pass is compiled for the baseline instruction set and, on x86-64, again for AVX2.
#if defined(__x86_64__)
#define AFLGUARD_AVX2 __attribute__((target("avx2")))
const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;
#define AFLGUARD_DISPATCH(type, name, parameters, arguments)             \
  AFLGUARD_AVX2 type name##_avx2 parameters {                            \
    return name##_body arguments;                                        \
  }                                                                      \
  type name##_baseline parameters {                                      \
    return name##_body arguments;                                        \
  }                                                                      \
  type name##_best parameters {                                          \
    return kHasAvx2 ? name##_avx2 arguments : name##_baseline arguments; \
  }
#else
#define AFLGUARD_DISPATCH(type, name, parameters, arguments) \
  type name##_best parameters {                              \
    return name##_body arguments;                            \
  }
#endif

AFLGUARD_DISPATCH(double, squared_norm, (const float* a, std::size_t n), (a, n))
AFLGUARD_DISPATCH(double, squared_distance, (const float* a, const float* b, std::size_t n), (a, b, n))
AFLGUARD_DISPATCH(DotAndNorm, dot_and_norm, (const float* a, const float* b, std::size_t n), (a, b, n))
AFLGUARD_DISPATCH(float, largest_magnitude, (const float* a, std::size_t n), (a, n))

#define AFLGUARD_STEP(name, sums, has_reference, how)                                                        \
  AFLGUARD_INLINE double name##_body(const float* g, const float* r, const float* t, float rate, float* out, \
                                     std::size_t n) {                                                        \
    return step_body<sums, has_reference, how>(g, r, t, rate, out, n);                                       \
  }                                                                                                          \
  AFLGUARD_DISPATCH(double, name,                                                                            \
                    (const float* g, const float* r, const float* t, float rate, float* out, std::size_t n), \
                    (g, r, t, rate, out, n))

AFLGUARD_STEP(plain_step, false, false, Store::kCached)
AFLGUARD_STEP(norm_step, true, false, Store::kCached)
AFLGUARD_STEP(norm_step_streaming, true, false, Store::kStreaming)
AFLGUARD_STEP(distance_step, true, true, Store::kCached)
AFLGUARD_STEP(distance_step_streaming, true, true, Store::kStreaming)

/// Streaming stores need 16-byte alignment and a destination that is not read in the same pass.
bool should_stream(std::span<const float> theta, std::span<float> next) {
  return next.size() >= kStreamFrom && theta.data() != next.data() &&
         reinterpret_cast<std::uintptr_t>(next.data()) % 16 == 0;
}

}  // namespace

double squared_norm(std::span<const float> a) {
  return squared_norm_best(a.data(), a.size());
}

double squared_distance(std::span<const float> a, std::span<const float> b) {
  check(a.size() == b.size(), "squared_distance of vectors of different length");
  return squared_distance_best(a.data(), b.data(), a.size());
}

DotAndNorm dot_and_norm(std::span<const float> a, std::span<const float> b) {
  check(a.size() == b.size(), "dot_and_norm of vectors of different length");
  return dot_and_norm_best(a.data(), b.data(), a.size());
}

void take_step(std::span<const float> theta, std::span<const float> direction, float rate,
               std::span<float> next) {
  check(theta.size() == direction.size() && theta.size() == next.size(), "take_step of different lengths");
  (void)plain_step_best(direction.data(), nullptr, theta.data(), rate, next.data(), next.size());
}

double norm_and_step(std::span<const float> direction, std::span<const float> theta, float rate,
                     std::span<float> next) {
  check(theta.size() == direction.size() && theta.size() == next.size(),
        "norm_and_step of different lengths");
  const auto pass = should_stream(theta, next) ? norm_step_streaming_best : norm_step_best;
  return pass(direction.data(), nullptr, theta.data(), rate, next.data(), next.size());
}

double distance_and_step(std::span<const float> direction, std::span<const float> reference,
                         std::span<const float> theta, float rate, std::span<float> next) {
  check(theta.size() == direction.size() && theta.size() == next.size() && theta.size() == reference.size(),
        "distance_and_step of different lengths");
  const auto pass = should_stream(theta, next) ? distance_step_streaming_best : distance_step_best;
  return pass(direction.data(), reference.data(), theta.data(), rate, next.data(), next.size());
}

float largest_magnitude(std::span<const float> a) {
  return largest_magnitude_best(a.data(), a.size());
}

}  // namespace aflguard
