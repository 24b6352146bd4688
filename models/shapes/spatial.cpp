#include <algorithm>

#include "models/shapes/shape_rules.h"
#include "models/shapes/window.h"

namespace aflguard::models {
namespace {

/// [batch, channels, extents...] with constant extents.
Status check_image(const Shape& shape) {
  if (shape.size() < 3)
    return invalid_input("the input has shape " + text(shape) + ", expected [batch, channels, ...]");
  for (std::size_t i = 1; i < shape.size(); ++i) {
    if (shape[i].batch)
      return unsupported("the input " + text(shape) + " has the batch among its channels or extents");
  }
  return {};
}

Result<Shape> slide(const Window& window, const Shape& input, const Dim& channels) {
  Shape result{input[0], channels};
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const std::int64_t positions = window.positions(i, input[i + 2].value);
    if (positions < 1) {
      return invalid_input("the kernel does not fit into the input " + text(input));
    }
    result.push_back({positions, false});
  }
  return result;
}

Infos conv(const ShapeQuery& query) {
  TRY_STATUS(expect_floats(query, 2));
  const Shape& x = query.shape(0);
  const Shape& w = query.shape(1);
  // The weight gradient's convolution has the batch as channels, so only ranks are demanded here.
  if (x.size() < 3 || w.size() != x.size()) {
    return invalid_input("input " + text(x) + " and weight " + text(w) + " do not fit");
  }
  std::vector<std::int64_t> kernel;
  for (std::size_t i = 2; i < w.size(); ++i) kernel.push_back(w[i].value);
  TRY(const Window window, read_window(query.node(), std::move(kernel)));
  const std::int64_t group = query.node().int_or("group", 1);
  if (group < 1 || group > x[1].value || x[1] != Dim{w[1].value * group, w[1].batch} ||
      w[0].value % group != 0) {
    return invalid_input("input " + text(x) + ", weight " + text(w) + " and group " + std::to_string(group) +
                         " do not fit");
  }
  if (query.has(2) && query.shape(2) != Shape{w[0]}) {
    return invalid_input("bias " + text(query.shape(2)) + " does not fit the weight " + text(w));
  }
  TRY(auto result, slide(window, x, w[0]));
  return one(query.info(0).type, std::move(result));
}

Infos conv_transpose(const ShapeQuery& query) {
  TRY_STATUS(expect_floats(query, 2));
  const Shape& x = query.shape(0);
  const Shape& w = query.shape(1);
  TRY_STATUS(check_image(x));
  if (w.size() != x.size())
    return invalid_input("input " + text(x) + " and weight " + text(w) + " do not fit");
  std::vector<std::int64_t> kernel;
  for (std::size_t i = 2; i < w.size(); ++i) kernel.push_back(w[i].value);
  TRY(const Window window, read_window(query.node(), std::move(kernel)));
  const std::int64_t group = query.node().int_or("group", 1);
  if (group < 1 || group > x[1].value || x[1] != w[0] || x[1].value % group != 0) {
    return invalid_input("input " + text(x) + ", weight " + text(w) + " and group " + std::to_string(group) +
                         " do not fit");
  }
  const auto extra = query.node().ints_or("output_padding", std::vector<std::int64_t>(window.rank(), 0));
  if (extra.size() != window.rank() ||
      std::ranges::any_of(extra, [](std::int64_t e) { return e < 0 || e > kMaxWindowExtent; })) {
    return invalid_input("output_padding is impossible");
  }
  Shape result{x[0], {w[1].value * group, false}};
  for (std::size_t i = 0; i < window.rank(); ++i) {
    result.push_back({window.strides[i] * (x[i + 2].value - 1) + window.reach(i) + extra[i] -
                          window.pads_begin[i] - window.pads_end[i],
                      false});
  }
  return one(query.info(0).type, std::move(result));
}

Result<Shape> pooled(const ShapeQuery& query) {
  const Shape& x = query.shape(0);
  TRY_STATUS(check_image(x));
  auto kernel = query.node().ints_or("kernel_shape", {});
  if (kernel.size() + 2 != x.size()) return invalid_input("kernel_shape does not fit the input " + text(x));
  TRY(const Window window, read_window(query.node(), std::move(kernel)));
  return slide(window, x, x[1]);
}

Infos max_pool(const ShapeQuery& query) {
  TRY(auto shape, pooled(query));
  return std::vector<ValueInfo>{{query.info(0).type, shape}, {ElementType::kInt64, shape}};
}

Infos average_pool(const ShapeQuery& query) {
  TRY(auto shape, pooled(query));
  return one(query.info(0).type, std::move(shape));
}

}  // namespace

void add_spatial_shapes(OperatorSet& operators) {
  operators.shapes[{"", "Conv"}] = conv;
  operators.shapes[{"", "ConvTranspose"}] = conv_transpose;
  operators.shapes[{"", "MaxPool"}] = max_pool;
  operators.shapes[{"", "AveragePool"}] = average_pool;
}

}  // namespace aflguard::models
