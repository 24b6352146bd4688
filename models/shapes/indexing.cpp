#include <algorithm>

#include "models/shapes/shape_rules.h"

namespace aflguard::models {
namespace {

/// Number of elements that NumPy's slice start:end:step takes out of `extent`.
std::int64_t sliced_extent(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto clamp = [extent](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 ? at + extent : at, low, high);
  };
  if (step > 0) {
    const std::int64_t first = clamp(start, 0, extent);
    const std::int64_t last = clamp(end, 0, extent);
    return last > first ? (last - first + step - 1) / step : 0;
  }
  const std::int64_t first = clamp(start, 0, extent - 1);
  const std::int64_t last = end < -extent ? -1 : clamp(end, -1, extent - 1);
  return first > last ? (first - last - step - 1) / -step : 0;
}

Infos slice(const ShapeQuery& query) {
  Shape result = query.shape(0);
  TRY(const auto starts, query.ints(1));
  TRY(const auto ends, query.ints(2));
  TRY(const auto axes, query.ints(3));
  std::vector<std::int64_t> steps(starts.size(), 1);
  if (query.has(4)) {
    TRY(steps, query.ints(4));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return invalid_input("starts, ends, axes and steps differ in length");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    TRY(const std::size_t axis, normal_axis(axes[i], result.size()));
    if (result[axis].batch) return unsupported("the batch dimension cannot be sliced");
    constexpr std::int64_t kMaxStep = std::int64_t{1} << 30;
    if (steps[i] == 0 || steps[i] > kMaxStep || steps[i] < -kMaxStep) {
      return invalid_input("step " + std::to_string(steps[i]) + " is impossible");
    }
    const std::int64_t extent = sliced_extent(result[axis].value, starts[i], ends[i], steps[i]);
    if (extent < 1) return invalid_input("nothing is left of axis " + std::to_string(axis));
    result[axis].value = extent;
  }
  return one(query.info(0).type, std::move(result));
}

Infos expand(const ShapeQuery& query) {
  TRY(const auto target, query.ints(1));
  TRY(auto result, broadcast(query.shape(0), constant_shape(target)));
  return one(query.info(0).type, std::move(result));
}

Infos one_hot(const ShapeQuery& query) {
  TRY(const auto depth, query.ints(1));
  Shape result = query.shape(0);
  result.push_back({depth.front(), false});
  return one(query.info(2).type, std::move(result));
}

/// The axis is replaced by the axes of the indices.
Infos gather(const ShapeQuery& query) {
  const Shape data = query.shape(0);
  const Shape& at = query.shape(1);
  TRY(const std::size_t axis, normal_axis(query.node().int_or("axis", 0), data.size()));
  if (data[axis].batch) return unsupported("picking samples out of the batch is not supported");
  const ElementType type = query.info(1).type;
  if (type != ElementType::kInt64 && type != ElementType::kInt32) {
    return invalid_input("its indices are " + element_type_name(type) + "; they must be int64 or int32");
  }
  Shape result(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(axis));
  result.insert(result.end(), at.begin(), at.end());
  result.insert(result.end(), data.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.end());
  return one(query.info(0).type, std::move(result));
}

}  // namespace

void add_indexing_shapes(OperatorSet& operators) {
  operators.shapes[{"", "Slice"}] = slice;
  operators.shapes[{"", "Expand"}] = expand;
  operators.shapes[{"", "OneHot"}] = one_hot;
  operators.shapes[{"", "Gather"}] = gather;
}

}  // namespace aflguard::models
