#include "models/graph/shape.h"

#include <algorithm>

namespace aflguard::models {

Shape constant_shape(std::span<const std::int64_t> extents) {
  Shape shape;
  for (const std::int64_t extent : extents) shape.push_back({extent, false});
  return shape;
}

std::string text(const Dim& dim) {
  if (!dim.batch) return std::to_string(dim.value);
  return dim.value == 1 ? "batch" : std::to_string(dim.value) + "*batch";
}

std::string text(const Shape& shape) {
  std::string result = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) result += (i ? ", " : "") + text(shape[i]);
  return result + "]";
}

std::optional<std::size_t> batch_axis(const Shape& shape) {
  const auto found = std::ranges::find_if(shape, [](const Dim& dim) { return dim.batch; });
  if (found == shape.end()) return std::nullopt;
  return static_cast<std::size_t>(found - shape.begin());
}

bool depends_on_batch(const Shape& shape) {
  return batch_axis(shape).has_value();
}

std::optional<Dim> product(std::span<const Dim> dims) {
  Dim result;
  for (const Dim& dim : dims) {
    const auto next = times(result, dim);
    if (!next) return std::nullopt;
    result = *next;
  }
  return result;
}

std::optional<Dim> times(const Dim& a, const Dim& b) {
  std::int64_t value = 0;
  if ((a.batch && b.batch) || __builtin_mul_overflow(a.value, b.value, &value)) return std::nullopt;
  return Dim{value, a.batch || b.batch};
}

std::optional<Dim> divided(const Dim& a, const Dim& b) {
  if (b.value < 1 || a.value % b.value != 0 || (b.batch && !a.batch)) return std::nullopt;
  return Dim{a.value / b.value, a.batch && !b.batch};
}

Status check_extents(const Shape& shape) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 30;
  std::int64_t total = 1;
  std::size_t batches = 0;
  for (const Dim& dim : shape) {
    if (dim.value < 1) return invalid_input("the shape " + text(shape) + " is empty");
    if (dim.value > kMaxElements / total) {
      return unsupported("the shape " + text(shape) + " has more than 2^30 elements");
    }
    total *= dim.value;
    batches += dim.batch ? 1 : 0;
  }
  if (batches > 1) {
    return unsupported("the shape " + text(shape) + " depends on the batch in more than one dimension");
  }
  return {};
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim left = i + a.size() < rank ? Dim{} : a[i + a.size() - rank];
    const Dim right = i + b.size() < rank ? Dim{} : b[i + b.size() - rank];
    if (left != right && !left.is(1) && !right.is(1)) {
      return invalid_input("shapes " + text(a) + " and " + text(b) + " do not broadcast");
    }
    result[i] = left.is(1) ? right : left;
  }
  return result;
}

Axes broadcast_axes(const Shape& from, const Shape& to) {
  Axes axes;
  const std::size_t extra = from.size() - to.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i].is(1)) continue;
    if (i < extra || to[i - extra].is(1)) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

std::vector<std::int64_t> reshape_target(const Shape& shape) {
  std::vector<std::int64_t> target;
  for (const Dim& dim : shape) target.push_back(dim.batch ? -1 : dim.value);
  return target;
}

Result<std::size_t> normal_axis(std::int64_t axis, std::size_t rank) {
  const auto limit = static_cast<std::int64_t>(rank);
  if (axis < -limit || axis >= limit) {
    return invalid_input("axis " + std::to_string(axis) + " is outside a tensor of rank " +
                         std::to_string(rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + limit : axis);
}

Result<Axes> normal_axes(std::span<const std::int64_t> axes, std::size_t rank) {
  Axes result;
  for (const std::int64_t axis : axes) {
    TRY(const std::size_t normal, normal_axis(axis, rank));
    result.push_back(static_cast<std::int64_t>(normal));
  }
  std::ranges::sort(result);
  if (std::ranges::adjacent_find(result) != result.end()) return invalid_input("an axis is listed twice");
  return result;
}

}  // namespace aflguard::models
