#include <algorithm>
#include <cmath>

#include "models/import/import_context.h"
#include "models/resampling.h"

namespace aflguard::models {
namespace {

/// Where the forms of Resize keep what they say.
struct Sources {
  std::size_t scales = 2;
  std::size_t sizes = 3;
};

/// What an input says: nothing when it is left out, or is the empty list that stands for that.
bool says_something(ImportContext& c, std::size_t index) {
  if (!c.has(index)) return false;
  if (const auto ints = c.ints(index); ints.ok()) return !ints->values.empty();
  const Tensor* tensor = c.constant_or_parameter(index);
  return !tensor || tensor->size() > 0;
}

/// One entry for every axis of the input, `rest` where `axes` leaves one out.
template <typename T>
Result<std::vector<T>> for_all_axes(ImportContext& c, const std::vector<T>& some, std::size_t rank,
                                    const std::vector<T>& rest) {
  const auto axes = c.node.ints_or("axes", {});
  if (axes.empty()) {
    if (some.size() == rank) return some;
    return c.refuse("it has " + std::to_string(some.size()) + " scales or sizes for " + std::to_string(rank) +
                    " axes");
  }
  std::vector<T> all = rest;
  if (axes.size() != some.size()) return c.refuse("its axes do not fit its scales or sizes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    auto axis = normal_axis(axes[i], rank);
    if (!axis.ok()) return at(describe(c.node), axis.error());
    all[*axis] = some[i];
  }
  return all;
}

Result<std::vector<float>> read_scales(ImportContext& c, std::size_t input, std::size_t rank) {
  std::vector<float> some;
  if (const auto found = c.node.attributes.find("scales"); found != c.node.attributes.end()) {
    const auto* list = std::get_if<std::vector<float>>(&found->second);
    if (!list) return c.refuse("its scales are not a list of numbers");
    some = *list;
  } else {
    const Tensor* tensor = c.constant_or_parameter(input);
    if (!tensor || tensor->type != ElementType::kFloat)
      return c.refuse("its scales are computed at run time; they must be constant");
    some = tensor->values<float>();
  }
  return for_all_axes(c, some, rank, std::vector<float>(rank, 1.0F));
}

/// Extents of the batch and the channels stay; where a file has a fixed batch, its size says so.
Result<Shape> read_sizes(ImportContext& c, std::size_t input, const Shape& x) {
  TRY(const SymbolicInts sizes, c.ints(input));
  TRY(Shape wanted, for_all_axes(c, sizes.values, x.size(), x));
  if (x[0].batch && c.fixed_batch() && wanted[0].is(x[0].value * *c.fixed_batch())) wanted[0] = x[0];
  for (std::size_t i = 2; i < wanted.size(); ++i) {
    if (wanted[i].batch || wanted[i].value < 1)
      return c.refuse("it resizes " + text(x) + " to " + text(wanted));
  }
  if (wanted[0] == x[0] && wanted[1] == x[1]) return wanted;
  return c.refuse("it resizes " + text(x) + " to " + text(wanted) +
                  "; batch and channels must stay as they are");
}

Status check_axes(ImportContext& c, const Shape& x) {
  if (x.size() < 3 || x.size() > 5) {
    return c.refuse("its input " + text(x) + " is not [batch, channels, ...] with one to three extents");
  }
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (x[i].batch) return c.refuse("its input " + text(x) + " has the batch among its channels or extents");
  }
  return {};
}

Status check_tables(ImportContext& c, const Shape& x, const Shape& y) {
  for (std::size_t i = 2; i < x.size(); ++i) {
    if (x[i].value <= kMaxResampling / y[i].value) continue;
    return c.refuse("it resizes axis " + std::to_string(i) + " from " + std::to_string(x[i].value) + " to " +
                    std::to_string(y[i].value) + "; the product may be at most " +
                    std::to_string(kMaxResampling));
  }
  return {};
}

Status resize_as(ImportContext& c, const Attributes& modes, const Sources& sources) {
  const Value x = c.input(0);
  TRY_STATUS(c.g.status());
  const Shape shape = c.g.shape(x);
  TRY_STATUS(check_axes(c, shape));
  if (const auto known = read_resampling({{}, {}, {}, modes, {}}); !known.ok())
    return at(describe(c.node), known.error());
  Value y;
  bool stays = false;
  if (says_something(c, sources.sizes)) {
    TRY(const Shape wanted, read_sizes(c, sources.sizes, shape));
    y = c.g.emit_shaped("Resize", {x, "", "", c.runtime_shape(wanted)}, modes, {ElementType::kFloat, wanted});
    stays = wanted == shape;
  } else {
    TRY(const auto scales, read_scales(c, sources.scales, shape.size()));
    if (scales[0] != 1.0F || scales[1] != 1.0F)
      return c.refuse("it resizes the batch or the channels, which must stay as they are");
    const Value list = c.g.constant(float_tensor(scales, {static_cast<std::int64_t>(scales.size())}));
    y = c.g.emit("Resize", {x, "", list}, modes);
    stays = std::ranges::all_of(scales, [](float scale) { return scale == 1.0F; });
  }
  TRY_STATUS(c.g.status());
  TRY_STATUS(check_tables(c, shape, c.g.shape(y)));
  c.give(0, stays ? x : y);
  return {};
}

Status resize(ImportContext& c) {
  for (const char* key : {"antialias", "exclude_outside"}) {
    if (c.node.int_or(key, 0) != 0) return c.refuse(std::string(key) + " is not supported");
  }
  const std::string ratio = c.node.string_or("keep_aspect_ratio_policy", "stretch");
  if (ratio != "stretch")
    return c.refuse("keep_aspect_ratio_policy is '" + ratio + "'; only 'stretch' is supported");
  Attributes modes;
  for (const char* key : {"mode", "coordinate_transformation_mode", "nearest_mode"}) {
    if (c.node.has(key)) modes[key] = c.node.attributes.at(key);
  }
  if (c.opset >= 11) return resize_as(c, modes, {2, 3});
  modes["coordinate_transformation_mode"] = std::string("asymmetric");
  modes["nearest_mode"] = std::string("floor");
  return resize_as(c, modes, {1, 9});
}

/// What Resize was called before opset 10.
Status upsample(ImportContext& c) {
  Attributes modes{{"mode", c.node.string_or("mode", "nearest")},
                   {"coordinate_transformation_mode", std::string("asymmetric")},
                   {"nearest_mode", std::string("floor")}};
  return resize_as(c, modes, {1, 9});
}

}  // namespace

void add_resize_imports(ImportTable& table) {
  table["Resize"] = resize;
  table["Upsample"] = upsample;
}

}  // namespace aflguard::models
