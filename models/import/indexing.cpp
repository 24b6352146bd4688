#include <algorithm>

#include "models/import/import_context.h"

namespace aflguard::models {
namespace {

/// Up to so many picked elements become slices, whose gradients are cheaper than that of a table.
constexpr std::size_t kMaxSlices = 256;

/// A short list of constant indices: slices, joined. A scalar index drops the axis.
Value gather_by_slices(ImportContext& c, const Value& x, std::size_t axis, const SymbolicInts& indices,
                       const std::vector<std::int64_t>& positions) {
  std::vector<Value> parts;
  for (const std::int64_t position : positions)
    parts.push_back(c.g.slice(x, {static_cast<std::int64_t>(axis)}, {position}, {position + 1}));
  const Value result = c.g.concat(std::move(parts), static_cast<std::int64_t>(axis));
  if (!indices.shape.empty() || !c.g.status().ok()) return result;
  Shape dropped = c.g.shape(x);
  dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(axis));
  return c.g.reshape(result, dropped);
}

Status gather_constant(ImportContext& c, const Value& x, std::size_t axis, const SymbolicInts& indices) {
  const auto known = indices.constants();
  if (!known.ok()) return c.refuse("its indices depend on the batch size, which is free");
  std::vector<std::int64_t> positions = *known;
  const Shape shape = c.g.shape(x);
  for (std::int64_t& position : positions) {
    if (position < 0) position += shape[axis].value;
    if (position < 0 || position >= shape[axis].value)
      return c.refuse("an index is outside the input " + text(shape));
  }
  if (positions.empty()) return c.refuse("it picks nothing");
  if (indices.shape.size() <= 1 && positions.size() <= kMaxSlices) {
    c.give(0, gather_by_slices(c, x, axis, indices, positions));
    return {};
  }
  const Value at = c.g.constant(int64_tensor(positions, indices.shape));
  c.give(0, c.g.emit("Gather", {x, at}, {{"axis", static_cast<std::int64_t>(axis)}}));
  return {};
}

/// An embedding: a table, and indices that are constant or computed from the model's input.
Status gather(ImportContext& c) {
  const Value x = c.input(0);
  TRY_STATUS(c.g.status());
  auto axis = normal_axis(c.node.int_or("axis", 0), c.g.rank(x));
  if (!axis.ok()) return at(describe(c.node), axis.error());
  if (c.g.shape(x)[*axis].batch) return c.refuse("picking samples out of the batch is not supported");
  if (const auto indices = c.ints(1); indices.ok()) return gather_constant(c, x, *axis, *indices);
  c.give(0, c.g.emit("Gather", {x, c.input(1)}, {{"axis", static_cast<std::int64_t>(*axis)}}));
  return {};
}

}  // namespace

void add_indexing_imports(ImportTable& table) {
  table["Gather"] = gather;
}

}  // namespace aflguard::models
