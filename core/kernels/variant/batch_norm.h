#pragma once

#include "core/kernels/variant/vector.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// Over one channel of one sample: whole(index of a vector, which part of eight lanes it is) and rest(index)
/// for each number behind the last eight.
template <typename Whole, typename Rest>
AFLGUARD_INLINE void over_plane(std::size_t plane, Whole&& whole, Rest&& rest) {
  std::size_t i = 0;
  for (; i + kParts * kLanes <= plane; i += kParts * kLanes) {
    for (std::size_t part = 0; part < kParts; ++part) whole(i + part * kLanes, part);
  }
  for (; i < plane; ++i) rest(i);
}

inline void batch_norm_forward(const BatchNormForward& n) {
  const std::size_t sample_stride = n.channels * n.plane;
  const auto count = static_cast<double>(n.samples * n.plane);
  // Channel by channel: one channel of a batch fits the second-level cache, so only the first pass reads
  // memory.
  for (std::size_t c = n.first_channel; c < n.end_channel; ++c) {
    const float* x = n.x + c * n.plane;
    double total = 0;
    for (std::size_t s = 0; s < n.samples; ++s) {
      Vector sum[kParts] = {};
      float rest = 0;
      const float* from = x + s * sample_stride;
      over_plane(
          n.plane, [&](std::size_t i, std::size_t part) { sum[part] += load(from + i); },
          [&](std::size_t i) { rest += from[i]; });
      total += static_cast<double>(sum_of(sum) + rest);
    }
    const auto mean = static_cast<float>(total / count);
    double squares = 0;
    for (std::size_t s = 0; s < n.samples; ++s) {
      Vector sum[kParts] = {};
      float rest = 0;
      const float* from = x + s * sample_stride;
      over_plane(
          n.plane,
          [&](std::size_t i, [[maybe_unused]] std::size_t part) {
            const Vector centred = load(from + i) - mean;
            sum[part] += centred * centred;
          },
          [&](std::size_t i) { rest += (from[i] - mean) * (from[i] - mean); });
      squares += static_cast<double>(sum_of(sum) + rest);
    }
    const auto inverse =
        static_cast<float>(1.0 / __builtin_sqrt(squares / count + static_cast<double>(n.epsilon)));
    n.mean[c] = mean;
    n.inverse_std[c] = inverse;
    const float scale = n.scale[c] * inverse;
    const float bias = n.bias[c];
    for (std::size_t s = 0; s < n.samples; ++s) {
      const std::size_t at = c * n.plane + s * sample_stride;
      over_plane(
          n.plane,
          [&](std::size_t i, [[maybe_unused]] std::size_t part) {
            Vector y = (load(n.x + at + i) - mean) * scale + bias;
            if (n.residual != nullptr) y += load(n.residual + at + i);
            if (n.rectify) y = maximum(y, Vector{});
            store(n.y + at + i, y);
          },
          [&](std::size_t i) {
            float y = (n.x[at + i] - mean) * scale + bias;
            if (n.residual != nullptr) y += n.residual[at + i];
            if (n.rectify && !(y > 0)) y = 0;
            n.y[at + i] = y;
          });
    }
  }
}

inline void batch_norm_backward(const BatchNormBackward& n) {
  const std::size_t sample_stride = n.channels * n.plane;
  const auto count = static_cast<float>(n.samples * n.plane);
  for (std::size_t c = n.first_channel; c < n.end_channel; ++c) {
    const float mean = n.mean[c];
    const float inverse = n.inverse_std[c];
    double total_dy = 0;
    double total_dyx = 0;
    for (std::size_t s = 0; s < n.samples; ++s) {
      const std::size_t at = c * n.plane + s * sample_stride;
      Vector sum_dy[kParts] = {};
      Vector sum_dyx[kParts] = {};
      float rest_dy = 0;
      float rest_dyx = 0;
      over_plane(
          n.plane,
          [&](std::size_t i, [[maybe_unused]] std::size_t part) {
            Vector dy = load(n.dy + at + i);
            if (n.y != nullptr) dy = load(n.y + at + i) > Vector{} ? dy : Vector{};
            if (n.dresidual != nullptr) store(n.dresidual + at + i, dy);
            sum_dy[part] += dy;
            sum_dyx[part] += dy * (load(n.x + at + i) - mean);
          },
          [&](std::size_t i) {
            float dy = n.dy[at + i];
            if (n.y != nullptr && !(n.y[at + i] > 0)) dy = 0;
            if (n.dresidual != nullptr) n.dresidual[at + i] = dy;
            rest_dy += dy;
            rest_dyx += dy * (n.x[at + i] - mean);
          });
      total_dy += static_cast<double>(sum_of(sum_dy) + rest_dy);
      total_dyx += static_cast<double>(sum_of(sum_dyx) + rest_dyx);
    }
    const auto dbias = static_cast<float>(total_dy);
    const float dscale = static_cast<float>(total_dyx) * inverse;
    n.dbias[c] = dbias;
    n.dscale[c] = dscale;
    // dx = scale / std * (dy - mean(dy) - normalised x * mean(dy * normalised x))
    const float factor = n.scale[c] * inverse;
    const float slope = dscale / count * inverse;
    const float offset = dbias / count;
    for (std::size_t s = 0; s < n.samples; ++s) {
      const std::size_t at = c * n.plane + s * sample_stride;
      over_plane(
          n.plane,
          [&](std::size_t i, [[maybe_unused]] std::size_t part) {
            Vector dy = load(n.dy + at + i);
            if (n.y != nullptr) dy = load(n.y + at + i) > Vector{} ? dy : Vector{};
            store(n.dx + at + i, (dy - offset - (load(n.x + at + i) - mean) * slope) * factor);
          },
          [&](std::size_t i) {
            float dy = n.dy[at + i];
            if (n.y != nullptr && !(n.y[at + i] > 0)) dy = 0;
            n.dx[at + i] = (dy - offset - (n.x[at + i] - mean) * slope) * factor;
          });
    }
  }
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
