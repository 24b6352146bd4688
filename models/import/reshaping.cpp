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

}  // namespace

void add_reshaping_imports(ImportTable& table) {
  table["Reshape"] = reshape;
  table["Flatten"] = flatten;
  table["Squeeze"] = squeeze;
  table["Unsqueeze"] = unsqueeze;
  table["Transpose"] = transpose;
  table["Expand"] = expand;
}

}  // namespace aflguard::models
