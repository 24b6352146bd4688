#include <algorithm>
#include <numeric>

#include "models/batch_norm.h"
#include "models/shapes/shape_rules.h"

namespace aflguard::models {
namespace {

Infos reduced(const ShapeQuery& query, Axes axes) {
  const Shape& x = query.shape(0);
  if (axes.empty()) {
    axes.resize(x.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  TRY(const Axes normal, normal_axes(axes, x.size()));
  const bool keep = query.node().int_or("keepdims", 1) != 0;
  Shape result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool gone = std::ranges::find(normal, static_cast<std::int64_t>(i)) != normal.end();
    if (!gone) result.push_back(x[i]);
    if (gone && keep) result.push_back(Dim{});
  }
  return one(query.info(0).type, std::move(result));
}

Infos axes_as_attribute(const ShapeQuery& query) {
  return reduced(query, query.node().ints_or("axes", {}));
}

Infos axes_as_input(const ShapeQuery& query) {
  if (!query.has(1)) return reduced(query, {});
  TRY(auto axes, query.ints(1));
  return reduced(query, std::move(axes));
}

/// x, scale, bias -> y, and the mean and variance of each channel over the batch.
Infos batch_norm(const ShapeQuery& query) {
  const Shape& x = query.shape(0);
  if (x.size() < 2 || x[1].batch) return invalid_input("the input " + text(x) + " has no channels");
  for (std::size_t i = 1; i < 3; ++i) {
    if (query.shape(i) != Shape{x[1]}) {
      return invalid_input("scale or bias " + text(query.shape(i)) + " does not fit the input " + text(x));
    }
  }
  const ValueInfo channel{query.info(0).type, {x[1]}};
  return std::vector<ValueInfo>{query.info(0), channel, channel};
}

}  // namespace

void add_reduction_shapes(OperatorSet& operators) {
  operators.shapes[{"", "ReduceSum"}] = axes_as_input;
  operators.shapes[{"", "ReduceMean"}] = axes_as_attribute;
  operators.shapes[{"", "ReduceMax"}] = axes_as_attribute;
  operators.shapes[kBatchNorm] = batch_norm;
}

}  // namespace aflguard::models
