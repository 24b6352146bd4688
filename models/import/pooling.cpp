#include <algorithm>
#include <limits>

#include "models/import/import_context.h"
#include "models/shapes/window.h"

namespace aflguard::models {
namespace {

/// A pool with everything explicit: where ceil_mode lets the last window hang over the end, `pads_end` is
/// larger than what the node declared.
struct Pool {
  Window window;
  std::vector<std::int64_t> declared_end;  ///< padding at the end without what ceil_mode adds
};

/// Number of positions: those that start in the padding behind the input do not count.
std::int64_t pool_positions(const Window& window, std::size_t axis, std::int64_t extent, bool ceil) {
  const std::int64_t room = extent + window.pads_begin[axis] + window.pads_end[axis] - window.reach(axis);
  if (room < 0) return 0;
  const std::int64_t stride = window.strides[axis];
  std::int64_t positions = (ceil ? (room + stride - 1) / stride : room / stride) + 1;
  if (ceil && (positions - 1) * stride >= extent + window.pads_begin[axis]) --positions;
  return positions;
}

Result<Pool> read_pool(const Node& node, const Shape& x) {
  const auto kernel = node.ints_or("kernel_shape", {});
  if (x.size() < 3 || kernel.size() + 2 != x.size()) {
    return invalid_input(describe(node) + ": kernel_shape does not fit the input " + text(x));
  }
  Node explicit_node = node;
  TRY(explicit_node.attributes["pads"], explicit_pads(node, x, kernel));
  auto window = read_window(explicit_node, kernel);
  if (!window.ok()) return at(describe(node), window.error());
  Pool pool{*window, window->pads_end};
  const bool ceil = node.int_or("ceil_mode", 0) != 0;
  for (std::size_t i = 0; i < pool.window.rank() && ceil; ++i) {
    const std::int64_t extent = x[i + 2].value;
    const std::int64_t positions = pool_positions(pool.window, i, extent, true);
    if (positions < 1)
      return invalid_input(describe(node) + ": the kernel does not fit into the input " + text(x));
    const std::int64_t needed = (positions - 1) * pool.window.strides[i] + pool.window.reach(i);
    // Shrinking the padding matters when the last window would start in it.
    pool.window.pads_end[i] = std::max<std::int64_t>(needed - extent - pool.window.pads_begin[i], 0);
  }
  return pool;
}

/// Runtimes demand padding smaller than the kernel. Other padding becomes a separate node.
Value pad_outside(ImportContext& c, Window& window, const Value& x, float fill) {
  bool fits = true;
  for (std::size_t i = 0; i < window.rank(); ++i) {
    fits = fits && window.pads_begin[i] < window.kernel[i] && window.pads_end[i] < window.kernel[i];
  }
  if (fits) return x;
  std::vector<std::int64_t> pads(2, 0);
  pads.insert(pads.end(), window.pads_begin.begin(), window.pads_begin.end());
  pads.insert(pads.end(), 2, 0);
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  window.pads_begin.assign(window.rank(), 0);
  window.pads_end.assign(window.rank(), 0);
  return c.g.emit("Pad", {x, c.g.ints(pads), c.g.scalar(fill)});
}

Status max_pool(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  TRY(Pool pool, read_pool(c.node, c.g.shape(x)));
  const Value padded = pad_outside(c, pool.window, x, std::numeric_limits<float>::lowest());
  c.give(0, c.g.emit("MaxPool", {padded}, pool.window.attributes()));
  return {};
}

/// How many elements each window averages along one axis: only those inside the input, or also declared
/// padding.
std::vector<std::int64_t> counts(const Pool& pool, std::size_t axis, std::int64_t extent,
                                 std::int64_t positions, bool include_pad) {
  std::vector<std::int64_t> result;
  const Window& window = pool.window;
  const std::int64_t low = include_pad ? -window.pads_begin[axis] : 0;
  const std::int64_t high = include_pad ? extent + pool.declared_end[axis] : extent;
  for (std::int64_t position = 0; position < positions; ++position) {
    std::int64_t count = 0;
    for (std::int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
      const std::int64_t at =
          position * window.strides[axis] + tap * window.dilations[axis] - window.pads_begin[axis];
      count += at >= low && at < high ? 1 : 0;
    }
    result.push_back(count);
  }
  return result;
}

/// Factors that turn "sum / kernel size" into "sum / number of elements that count", one per position.
std::vector<float> corrections(const Pool& pool, const Shape& x, const Shape& y, bool include_pad) {
  std::vector<float> factors{1.0F};
  for (std::size_t axis = 0; axis < pool.window.rank(); ++axis) {
    std::vector<float> next;
    const auto along = counts(pool, axis, x[axis + 2].value, y[axis + 2].value, include_pad);
    for (const float factor : factors) {
      for (const std::int64_t count : along) {
        next.push_back(factor * static_cast<float>(pool.window.kernel[axis]) /
                       static_cast<float>(std::max<std::int64_t>(count, 1)));
      }
    }
    factors = std::move(next);
  }
  return factors;
}

/// Runtimes disagree about what padding and ceil_mode count. Here a pool always divides by the whole kernel,
/// and a constant factor per position corrects it where the node says otherwise.
Status average_pool(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape x_shape = c.g.shape(x);
  TRY(const Pool pool, read_pool(c.node, x_shape));
  if (std::ranges::any_of(pool.window.dilations, [](std::int64_t dilation) { return dilation != 1; })) {
    return c.refuse("average pooling with dilation is not supported");
  }
  Window window = pool.window;
  const Value padded = pad_outside(c, window, x, 0);
  Attributes attributes = window.attributes();
  attributes.erase("dilations");
  if (window.padded()) attributes["count_include_pad"] = std::int64_t{1};
  const Value plain = c.g.emit("AveragePool", {padded}, std::move(attributes));
  if (!c.g.status().ok()) return {};
  const Shape y = c.g.shape(plain);
  const auto factors = corrections(pool, x_shape, y, c.node.int_or("count_include_pad", 0) != 0);
  if (std::ranges::all_of(factors, [](float factor) { return factor == 1.0F; })) {
    c.give(0, plain);
    return {};
  }
  std::vector<std::int64_t> shape{1, 1};
  for (std::size_t i = 2; i < y.size(); ++i) shape.push_back(y[i].value);
  c.give(0, c.g.mul(plain, c.g.constant(float_tensor(factors, shape))));
  return {};
}

Status global_average_pool(ImportContext& c) {
  const Value x = c.input(0);
  Axes axes;
  for (std::size_t i = 2; i < c.g.rank(x); ++i) axes.push_back(static_cast<std::int64_t>(i));
  c.give(0, c.g.reduce_mean(x, axes, true));
  return {};
}

Status global_max_pool(ImportContext& c) {
  const Value x = c.input(0);
  std::vector<std::int64_t> kernel;
  for (std::size_t i = 2; i < c.g.rank(x); ++i) kernel.push_back(c.g.shape(x)[i].value);
  c.give(0, c.g.emit("MaxPool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}}));
  return {};
}

}  // namespace

void add_pooling_imports(ImportTable& table) {
  table["MaxPool"] = max_pool;
  table["AveragePool"] = average_pool;
  table["GlobalAveragePool"] = global_average_pool;
  table["GlobalMaxPool"] = global_max_pool;
}

}  // namespace aflguard::models
