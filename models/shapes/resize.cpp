#include <cmath>

#include "models/shapes/shape_rules.h"

namespace aflguard::models {
namespace {

/// X, nothing, and a constant scale for each axis. Forms with sizes state their shape themselves.
Infos resize(const ShapeQuery& query) {
  TRY_STATUS(expect_floats(query, 1));
  Shape result = query.shape(0);
  TRY(const auto scales, query.floats(2));
  if (scales.size() != result.size()) {
    return invalid_input(std::to_string(scales.size()) + " scales do not fit the input " + text(result));
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (scales[i] == 1.0F) continue;
    const float extent = std::floor(static_cast<float>(result[i].value) * scales[i]);
    if (result[i].batch || !(extent >= 1 && extent <= static_cast<float>(1 << 24))) {
      return invalid_input("scale " + std::to_string(scales[i]) + " is impossible for axis " +
                           std::to_string(i) + " of " + text(result));
    }
    result[i].value = static_cast<std::int64_t>(extent);
  }
  return one(query.info(0).type, std::move(result));
}

}  // namespace

void add_resize_shapes(OperatorSet& operators) {
  operators.shapes[{"", "Resize"}] = resize;
}

}  // namespace aflguard::models
