#include <algorithm>

#include "models/import/import_context.h"

namespace aflguard::models {
namespace {

Status constant(ImportContext& c) {
  const auto& attributes = c.node.attributes;
  if (const auto found = attributes.find("value"); found != attributes.end()) {
    const auto* tensor = std::get_if<Tensor>(&found->second);
    if (!tensor) return c.refuse("its value is not a tensor");
    if (auto ints = symbolic_ints(*tensor)) {
      c.give(0, std::move(*ints));
      return {};
    }
    if (tensor->type == ElementType::kDouble) {
      const auto wide = tensor->values<double>();
      c.give(0, c.g.constant(float_tensor(std::vector<float>(wide.begin(), wide.end()), tensor->shape)));
      return {};
    }
    if (tensor->type != ElementType::kFloat) {
      return c.refuse("it holds " + element_type_name(tensor->type) + "; models are trained in float32");
    }
    c.give(0, c.g.constant(*tensor));
    return {};
  }
  if (c.node.has("value_float")) {
    c.give(0, c.g.scalar(c.node.float_or("value_float", 0)));
  } else if (c.node.has("value_int")) {
    c.give(0, SymbolicInts{{}, {{c.node.int_or("value_int", 0), false}}});
  } else if (c.node.has("value_ints")) {
    const auto values = c.node.ints_or("value_ints", {});
    c.give(0, SymbolicInts{{static_cast<std::int64_t>(values.size())}, constant_shape(values)});
  } else if (const auto found = attributes.find("value_floats");
             found != attributes.end() && std::holds_alternative<std::vector<float>>(found->second)) {
    const auto& values = std::get<std::vector<float>>(found->second);
    c.give(0, c.g.constant(float_tensor(values, {static_cast<std::int64_t>(values.size())})));
  } else {
    return c.refuse("its kind of value is not supported");
  }
  return {};
}

Status shape_of(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const auto rank = static_cast<std::int64_t>(c.g.rank(x));
  const auto bound = [&](const char* key, std::int64_t default_value) {
    const std::int64_t at = c.node.int_or(key, default_value);
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound("start", 0);
  const std::int64_t end = std::max(start, bound("end", rank));
  const Shape& shape = c.g.shape(x);
  c.give(0, SymbolicInts{{end - start}, Shape(shape.begin() + start, shape.begin() + end)});
  return {};
}

Status size_of(ImportContext& c) {
  const auto total = product(c.shape(0));
  if (!total) return c.refuse("its result is not linear in the batch");
  c.give(0, SymbolicInts{{}, {*total}});
  return {};
}

Status concat(ImportContext& c) {
  if (!c.node.has("axis")) return c.refuse("it has no axis");
  const auto inputs = c.all_inputs();
  if (!c.g.status().ok()) return {};
  TRY(const std::size_t axis, normal_axis(c.node.int_or("axis", 0), c.g.rank(inputs.front())));
  if (c.g.shape(inputs.front())[axis].batch)
    return c.refuse("joining along the batch dimension is not supported");
  c.give(0, c.g.concat(inputs, static_cast<std::int64_t>(axis)));
  return {};
}

Status split(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  TRY(const std::size_t axis, normal_axis(c.node.int_or("axis", 0), shape.size()));
  if (shape[axis].batch) return c.refuse("splitting the batch dimension is not supported");
  TRY(auto sizes, c.setting("split", 1, {}));
  const auto count = static_cast<std::int64_t>(c.node.outputs.size());
  if (sizes.empty()) {
    const std::int64_t part = (shape[axis].value + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) sizes.push_back(std::min(part, shape[axis].value - i * part));
  }
  if (static_cast<std::int64_t>(sizes.size()) != count ||
      std::ranges::any_of(sizes, [](std::int64_t s) { return s < 1; })) {
    return c.refuse("the sizes of its parts do not fit the input " + text(shape));
  }
  const auto parts = c.g.emit_many({"", "Split"}, {x, c.g.ints(sizes)},
                                   {{"axis", static_cast<std::int64_t>(axis)}}, sizes.size());
  for (std::size_t i = 0; i < parts.size(); ++i) c.give(i, parts[i]);
  return {};
}

/// Which element of an axis stands at `at`, outside of it too: the mirrored one, or the last one on that
/// side.
std::int64_t padded_from(std::int64_t at, std::int64_t extent, bool reflect) {
  if (at < 0) return reflect ? -at : 0;
  if (at >= extent) return reflect ? 2 * (extent - 1) - at : extent - 1;
  return at;
}

/// Padding with the input's own elements picks them: one axis after the other.
Status pad_with_itself(ImportContext& c, const Value& x, const std::vector<std::int64_t>& pads,
                       bool reflect) {
  const Shape shape = c.g.shape(x);
  if (pads.size() != 2 * shape.size()) return c.refuse("pads do not fit the input " + text(shape));
  constexpr std::int64_t kMaxPad = std::int64_t{1} << 20;
  Value result = x;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t begin = pads[axis];
    const std::int64_t end = pads[shape.size() + axis];
    if (begin == 0 && end == 0) continue;
    const std::int64_t extent = shape[axis].value;
    const std::int64_t limit = reflect ? extent - 1 : kMaxPad;
    if (shape[axis].batch || begin < 0 || end < 0 || begin > limit || end > limit) {
      return c.refuse("it cannot pad axis " + std::to_string(axis) + " of " + text(shape) + " by " +
                      std::to_string(begin) + " and " + std::to_string(end));
    }
    std::vector<std::int64_t> from;
    for (std::int64_t at = -begin; at < extent + end; ++at) from.push_back(padded_from(at, extent, reflect));
    result = c.g.emit("Gather", {result, c.g.ints(from)}, {{"axis", static_cast<std::int64_t>(axis)}});
  }
  c.give(0, result);
  return {};
}

Status pad(ImportContext& c) {
  const std::string mode = c.node.string_or("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge")
    return c.refuse("mode is '" + mode + "'; supported are constant, reflect and edge");
  TRY(auto pads, c.setting(c.opset < 2 ? "paddings" : "pads", 1, {}));
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  if (c.has(3)) {
    TRY(const auto axes, c.setting("axes", 3, {}));
    TRY(const Axes normal, normal_axes(axes, c.g.rank(x)));
    if (pads.size() != 2 * axes.size()) return c.refuse("pads do not fit its axes");
    std::vector<std::int64_t> all(2 * c.g.rank(x), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      TRY(const std::size_t axis, normal_axis(axes[i], c.g.rank(x)));
      all[axis] = pads[i];
      all[c.g.rank(x) + axis] = pads[axes.size() + i];
    }
    pads = all;
  }
  if (mode != "constant") return pad_with_itself(c, x, pads, mode == "reflect");
  std::vector<Value> inputs{x, c.g.ints(pads)};
  if (c.has(2)) inputs.push_back(c.input(2));
  if (c.node.float_or("value", 0) != 0) inputs.push_back(c.g.scalar(c.node.float_or("value", 0)));
  if (std::ranges::all_of(pads, [](std::int64_t extent) { return extent == 0; })) {
    c.give(0, x);
  } else {
    c.give(0, c.g.emit("Pad", std::move(inputs)));
  }
  return {};
}

/// Taking all of an axis (also of the batch) is not an operation; exporters write it for x[:, a:b].
Status slice(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  TRY(const auto starts, c.setting("starts", 1, {}));
  TRY(const auto ends, c.setting("ends", 2, {}));
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  TRY(axes, c.setting("axes", 3, axes));
  TRY(const auto steps, c.setting("steps", 4, std::vector<std::int64_t>(starts.size(), 1)));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return c.refuse("starts, ends, axes and steps differ in length");
  }
  Axes kept_axes;
  std::vector<std::int64_t> kept_starts;
  std::vector<std::int64_t> kept_ends;
  std::vector<std::int64_t> kept_steps;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    TRY(const std::size_t axis, normal_axis(axes[i], shape.size()));
    const bool to_the_end =
        shape[axis].batch ? ends[i] >= (std::int64_t{1} << 31) - 1 : ends[i] >= shape[axis].value;
    if (starts[i] == 0 && steps[i] == 1 && to_the_end) continue;
    kept_axes.push_back(static_cast<std::int64_t>(axis));
    kept_starts.push_back(starts[i]);
    kept_ends.push_back(ends[i]);
    kept_steps.push_back(steps[i]);
  }
  c.give(0, kept_axes.empty() ? x : c.g.slice(x, kept_axes, kept_starts, kept_ends, kept_steps));
  return {};
}

Status constant_of_shape(ImportContext& c) {
  TRY(const SymbolicInts shape, c.ints(0));
  Tensor fill = float_scalar(0);
  if (const auto found = c.node.attributes.find("value"); found != c.node.attributes.end()) {
    const auto* tensor = std::get_if<Tensor>(&found->second);
    if (!tensor || tensor->size() != 1) return c.refuse("its value is not one number");
    fill = *tensor;
  }
  fill.shape = {1};
  c.give(0, c.g.emit_shaped("ConstantOfShape", {c.runtime_shape(shape.values)}, {{"value", fill}},
                            {fill.type, shape.values}));
  return {};
}

}  // namespace

void add_structural_imports(ImportTable& table) {
  table["Constant"] = constant;
  table["Shape"] = shape_of;
  table["Size"] = size_of;
  table["Concat"] = concat;
  table["Split"] = split;
  table["Pad"] = pad;
  table["Slice"] = slice;
  table["ConstantOfShape"] = constant_of_shape;
}

}  // namespace aflguard::models
