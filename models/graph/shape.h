#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::models {

/// One extent of a tensor: `value`, or `value` times the batch size, which is known only at run time.
/// Everything that depends on the batch is linear in it, so that graphs hold for every batch size.
struct Dim {
  std::int64_t value = 1;
  bool batch = false;

  [[nodiscard]] bool is(std::int64_t constant) const { return !batch && value == constant; }
  friend bool operator==(const Dim&, const Dim&) = default;
};

using Shape = std::vector<Dim>;
using Axes = std::vector<std::int64_t>;

inline constexpr Dim kBatchDim{1, true};

[[nodiscard]] Shape constant_shape(std::span<const std::int64_t> extents);
[[nodiscard]] std::string text(const Dim& dim);      ///< "3", "batch", "4*batch"
[[nodiscard]] std::string text(const Shape& shape);  ///< "[batch, 3, 28, 28]"

/// The position of the extent that depends on the batch; shapes have at most one.
[[nodiscard]] std::optional<std::size_t> batch_axis(const Shape& shape);
[[nodiscard]] bool depends_on_batch(const Shape& shape);

/// Product of the extents in [first, last); nothing when it is quadratic in the batch.
[[nodiscard]] std::optional<Dim> product(std::span<const Dim> dims);

/// a * b and a / b where the result is again a Dim (no remainder, no square of the batch).
[[nodiscard]] std::optional<Dim> times(const Dim& a, const Dim& b);
[[nodiscard]] std::optional<Dim> divided(const Dim& a, const Dim& b);

/// No extent below 1, at most 2^30 elements per sample, the batch in one dimension at most: what everything
/// else may rely on, so that sizes never overflow.
[[nodiscard]] Status check_extents(const Shape& shape);

/// NumPy's broadcasting of two shapes. kInvalidInput when they do not fit.
[[nodiscard]] Result<Shape> broadcast(const Shape& a, const Shape& b);

/// The axes of `from` that must be summed so that what remains can be reshaped to `to`, where `to` was
/// broadcast to `from`.
[[nodiscard]] Axes broadcast_axes(const Shape& from, const Shape& to);

/// The values of a Reshape's shape input: the extent that depends on the batch becomes -1.
[[nodiscard]] std::vector<std::int64_t> reshape_target(const Shape& shape);

/// Negative axes count from the end. kInvalidInput when outside [-rank, rank).
[[nodiscard]] Result<std::size_t> normal_axis(std::int64_t axis, std::size_t rank);
[[nodiscard]] Result<Axes> normal_axes(std::span<const std::int64_t> axes, std::size_t rank);

}  // namespace aflguard::models
