#include <algorithm>

#include "models/import/free_batch.h"
#include "models/import/import_context.h"

namespace aflguard::models {
namespace {

Status reshape(ImportContext& c) {
  TRY(const SymbolicInts target, c.ints(1));
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  auto shape = reshaped(c.g.shape(x), target.values, c.fixed_batch(), c.node.int_or("allowzero", 0) != 0);
  if (!shape.ok()) return at(describe(c.node), shape.error());
  c.give(0, c.g.reshape(x, *shape));
  return {};
}

Status flatten(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  std::int64_t axis = c.node.int_or("axis", 1);
  if (axis < 0) axis += static_cast<std::int64_t>(shape.size());
  if (axis < 0 || axis > static_cast<std::int64_t>(shape.size()))
    return c.refuse("its axis is outside the input " + text(shape));
  const auto rows = product(std::span(shape).first(static_cast<std::size_t>(axis)));
  const auto columns = product(std::span(shape).subspan(static_cast<std::size_t>(axis)));
  c.give(0, c.g.reshape(x, {*rows, *columns}));
  return {};
}

Status squeeze(ImportContext& c) {
  TRY(const auto axes, c.setting("axes", 1, {}));
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  auto normal = normal_axes(axes, shape.size());
  if (!normal.ok()) return at(describe(c.node), normal.error());
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool named = std::ranges::find(*normal, static_cast<std::int64_t>(i)) != normal->end();
    if (named && !shape[i].is(1)) {
      return c.refuse("axis " + std::to_string(i) + " of " + text(shape) + " is not 1 and cannot be dropped" +
                      (shape[i].batch ? "; the batch must stay free" : ""));
    }
    if (!(named || (axes.empty() && shape[i].is(1)))) result.push_back(shape[i]);
  }
  c.give(0, c.g.reshape(x, result));
  return {};
}

Status unsqueeze(ImportContext& c) {
  TRY(const auto axes, c.setting("axes", 1, {}));
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  auto normal = normal_axes(axes, shape.size() + axes.size());
  if (!normal.ok()) return at(describe(c.node), normal.error());
  Shape result = shape;
  for (const std::int64_t axis : *normal) result.insert(result.begin() + axis, Dim{});
  c.give(0, c.g.reshape(x, result));
  return {};
}

Status transpose(ImportContext& c) {
  const Value x = c.input(0);
  Axes order;
  for (std::size_t i = c.g.rank(x); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  c.give(0, c.g.transpose(x, c.node.ints_or("perm", order)));
  return {};
}

/// A constant whose values are all the same, as one number: it can take any batch size.
Value without_extents(ImportContext& c, const Value& x) {
  const auto found = c.g.graph().constants.find(x);
  if (found == c.g.graph().constants.end() || found->second.type != ElementType::kFloat) return x;
  const auto values = found->second.values<float>();
  const auto differs = [&](float value) { return value != values.front(); };
  return values.empty() || std::ranges::any_of(values, differs) ? x : c.g.scalar(values.front());
}

Status expand(ImportContext& c) {
  TRY(const SymbolicInts target, c.ints(1));
  Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  // A file for one batch size expands zeros for that many samples to as many as there are.
  if (depends_on_batch(target.values)) x = without_extents(c, x);
  Shape wanted = target.values;
  // A file with a fixed batch size repeats a value once per sample: the leading extent is the batch.
  if (c.fixed_batch().value_or(1) > 1 && !wanted.empty() && !depends_on_batch(wanted) &&
      wanted[0].is(*c.fixed_batch())) {
    wanted[0] = kBatchDim;
  }
  auto shape = broadcast(c.g.shape(x), wanted);
  if (!shape.ok()) return at(describe(c.node), shape.error());
  if (*shape == c.g.shape(x)) {
    c.give(0, x);
    return {};
  }
  const ElementType type = c.g.graph().info(x).type;
  c.give(0, c.g.emit_shaped("Expand", {x, c.runtime_shape(*shape)}, {}, {type, *shape}));
  return {};
}

/// Repeats every axis: a new axis in front of it is expanded and then joined with it.
Status tile(ImportContext& c) {
  TRY(const SymbolicInts repeats, c.ints(1));
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  Shape times_each = repeats.values;
  if (times_each.size() != shape.size()) return c.refuse("its repeats do not fit the input " + text(shape));
  // A file with a fixed batch size repeats a value once per sample.
  if (!shape.empty() && shape[0].is(1) && c.fixed_batch().value_or(1) > 1 &&
      times_each[0].is(*c.fixed_batch()))
    times_each[0] = kBatchDim;
  Shape apart;
  Shape repeated;
  Shape joined;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto extent = times(times_each[i], shape[i]);
    if (times_each[i].value < 1 || !extent || (shape[i].batch && !times_each[i].is(1)))
      return c.refuse("it repeats " + text(shape) + " by " + text(times_each));
    if (!times_each[i].is(1)) {
      apart.push_back(Dim{});
      repeated.push_back(times_each[i]);
    }
    apart.push_back(shape[i]);
    repeated.push_back(shape[i]);
    joined.push_back(*extent);
  }
  if (repeated == apart) {
    c.give(0, x);
    return {};
  }
  const ElementType type = c.g.graph().info(x).type;
  const Value copies =
      c.g.emit_shaped("Expand", {c.g.reshape(x, apart), c.runtime_shape(repeated)}, {}, {type, repeated});
  c.give(0, c.g.reshape(copies, joined));
  return {};
}

/// [batch, channels, height, width] and a block size that fits what is cut up.
Result<std::int64_t> block_of(ImportContext& c, const Shape& x, bool of_channels) {
  const std::int64_t block = c.node.int_or("blocksize", 0);
  constexpr std::int64_t kMaxBlock = 1024;
  const bool possible =
      x.size() == 4 && !x[1].batch && !x[2].batch && !x[3].batch && block >= 1 && block <= kMaxBlock &&
      (of_channels ? x[1].value % (block * block) == 0 : x[2].value % block == 0 && x[3].value % block == 0);
  if (possible) return block;
  return c.refuse("blocksize " + std::to_string(block) + " does not fit the input " + text(x));
}

Status depth_to_space(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  TRY(const std::int64_t block, block_of(c, shape, true));
  const std::string mode = c.node.string_or("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return c.refuse("mode is '" + mode + "'; use DCR or CRD");
  const Dim side{block, false};
  const Dim channels{shape[1].value / (block * block), false};
  const Shape apart = mode == "DCR" ? Shape{shape[0], side, side, channels, shape[2], shape[3]}
                                    : Shape{shape[0], channels, side, side, shape[2], shape[3]};
  const Axes order = mode == "DCR" ? Axes{0, 3, 4, 1, 5, 2} : Axes{0, 1, 4, 2, 5, 3};
  const Shape result{shape[0], channels, {shape[2].value * block, false}, {shape[3].value * block, false}};
  c.give(0, c.g.reshape(c.g.transpose(c.g.reshape(x, apart), order), result));
  return {};
}

Status space_to_depth(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  TRY(const std::int64_t block, block_of(c, shape, false));
  const Dim side{block, false};
  const Dim height{shape[2].value / block, false};
  const Dim width{shape[3].value / block, false};
  const Value apart = c.g.reshape(x, {shape[0], shape[1], height, side, width, side});
  const Shape result{shape[0], {shape[1].value * block * block, false}, height, width};
  c.give(0, c.g.reshape(c.g.transpose(apart, {0, 3, 5, 1, 2, 4}), result));
  return {};
}

}  // namespace

void add_reshaping_imports(ImportTable& table) {
  table["Reshape"] = reshape;
  table["Flatten"] = flatten;
  table["Squeeze"] = squeeze;
  table["Unsqueeze"] = unsqueeze;
  table["Transpose"] = transpose;
  table["Expand"] = expand;
  table["Tile"] = tile;
  table["DepthToSpace"] = depth_to_space;
  table["SpaceToDepth"] = space_to_depth;
}

}  // namespace aflguard::models
