#include <algorithm>
#include <numeric>

#include "models/shapes/shape_rules.h"

namespace aflguard::models {
namespace {

Infos reshape(const ShapeQuery& query) {
  TRY(const auto target, query.ints(1));
  const auto total = product(query.shape(0));
  if (!total) return unsupported("the input " + text(query.shape(0)) + " is not linear in the batch");
  Shape result = constant_shape(target);
  std::optional<std::size_t> open;
  Dim known;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (target[i] == -1 && !open) {
      open = i;
    } else if (target[i] < 1) {
      return invalid_input("the target shape " + text(result) + " is impossible");
    } else {
      const auto next = times(known, result[i]);
      if (!next) return invalid_input("the target shape " + text(result) + " is impossible");
      known = *next;
    }
  }
  const auto rest = divided(*total, known);
  if (!rest || (!open && *rest != Dim{})) {
    return invalid_input("the input " + text(query.shape(0)) + " cannot become " + text(result));
  }
  if (open) result[*open] = *rest;
  return one(query.info(0).type, std::move(result));
}

Infos transpose(const ShapeQuery& query) {
  const Shape& x = query.shape(0);
  Axes order(x.size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = query.node().ints_or("perm", order);
  Axes sorted = order;
  std::ranges::sort(sorted);
  Axes expected(x.size());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) return invalid_input("perm is not a permutation of the axes of " + text(x));
  Shape result;
  for (const std::int64_t axis : order) result.push_back(x[static_cast<std::size_t>(axis)]);
  return one(query.info(0).type, std::move(result));
}

Infos concat(const ShapeQuery& query) {
  Shape result = query.shape(0);
  TRY(const std::size_t axis, normal_axis(query.node().int_or("axis", 0), result.size()));
  Dim total{0, result[axis].batch};
  for (std::size_t i = 0; i < query.inputs(); ++i) {
    Shape part = query.shape(i);
    if (part.size() != result.size() || part[axis].batch != total.batch) {
      return invalid_input("inputs " + text(result) + " and " + text(part) + " do not concatenate");
    }
    total.value += part[axis].value;
    part[axis] = result[axis];
    if (part != result)
      return invalid_input("inputs " + text(result) + " and " + text(part) + " do not concatenate");
  }
  result[axis] = total;
  return one(query.info(0).type, std::move(result));
}

Infos split(const ShapeQuery& query) {
  const Shape& x = query.shape(0);
  TRY(const std::size_t axis, normal_axis(query.node().int_or("axis", 0), x.size()));
  TRY(const auto sizes, query.ints(1));
  std::int64_t rest = x[axis].value;
  for (const std::int64_t size : sizes) rest = size < 1 || size > rest ? -1 : rest - size;
  if (x[axis].batch || rest != 0) {
    return invalid_input("the sizes of the parts do not add up to axis " + std::to_string(axis) + " of " +
                         text(x));
  }
  std::vector<ValueInfo> infos;
  for (const std::int64_t size : sizes) {
    infos.push_back(query.info(0));
    infos.back().shape[axis] = {size, false};
  }
  return infos;
}

Infos pad(const ShapeQuery& query) {
  Shape result = query.shape(0);
  TRY(const auto pads, query.ints(1));
  constexpr std::int64_t kMaxPad = std::int64_t{1} << 30;
  const auto extreme = [](std::int64_t pad) { return pad > kMaxPad || pad < -kMaxPad; };
  if (pads.size() != 2 * result.size() || std::ranges::any_of(pads, extreme)) {
    return invalid_input("pads do not fit the input " + text(result));
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t extra = pads[i] + pads[i + result.size()];
    if (result[i].batch && (pads[i] != 0 || pads[i + result.size()] != 0)) {
      return unsupported("the batch dimension cannot be padded");
    }
    if (!result[i].batch && result[i].value + extra < 1)
      return invalid_input("nothing is left of " + text(result));
    result[i].value += extra;
  }
  return one(query.info(0).type, std::move(result));
}

Infos shape_of(const ShapeQuery& query) {
  const auto rank = static_cast<std::int64_t>(query.shape(0).size());
  const std::int64_t start = query.node().int_or("start", 0);
  const std::int64_t end = query.node().int_or("end", rank);
  return one(ElementType::kInt64, {{end - start, false}});
}

Infos size_of(const ShapeQuery&) {
  return one(ElementType::kInt64, {});
}

}  // namespace

void add_structural_shapes(OperatorSet& operators) {
  operators.shapes[{"", "Reshape"}] = reshape;
  operators.shapes[{"", "Transpose"}] = transpose;
  operators.shapes[{"", "Concat"}] = concat;
  operators.shapes[{"", "Split"}] = split;
  operators.shapes[{"", "Pad"}] = pad;
  operators.shapes[{"", "Shape"}] = shape_of;
  operators.shapes[{"", "Size"}] = size_of;
}

}  // namespace aflguard::models
