#include "models/import/import_context.h"

namespace aflguard::models {
namespace {

struct Reduction {
  Value x;
  Axes axes;
  bool keep = true;
};

Result<Reduction> read_reduction(ImportContext& c) {
  Reduction reduction{c.input(0), {}, c.node.int_or("keepdims", 1) != 0};
  TRY_STATUS(c.g.status());
  TRY(auto axes, c.setting("axes", 1, {}));
  if (axes.empty() && c.node.int_or("noop_with_empty_axes", 0) == 0) {
    for (std::size_t i = 0; i < c.g.rank(reduction.x); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  auto normal = normal_axes(axes, c.g.rank(reduction.x));
  if (!normal.ok()) return at(describe(c.node), normal.error());
  reduction.axes = *normal;
  return reduction;
}

Status reduce_sum(ImportContext& c) {
  TRY(const Reduction r, read_reduction(c));
  c.give(0, c.g.reduce_sum(r.x, r.axes, r.keep));
  return {};
}

Status reduce_mean(ImportContext& c) {
  TRY(const Reduction r, read_reduction(c));
  c.give(0, c.g.reduce_mean(r.x, r.axes, r.keep));
  return {};
}

Status reduce_sum_square(ImportContext& c) {
  TRY(const Reduction r, read_reduction(c));
  c.give(0, c.g.reduce_sum(c.g.mul(r.x, r.x), r.axes, r.keep));
  return {};
}

Status reduce_l2(ImportContext& c) {
  TRY(const Reduction r, read_reduction(c));
  c.give(0, c.g.emit("Sqrt", {c.g.reduce_sum(c.g.mul(r.x, r.x), r.axes, r.keep)}));
  return {};
}

}  // namespace

void add_reduction_imports(ImportTable& table) {
  table["ReduceSum"] = reduce_sum;
  table["ReduceMean"] = reduce_mean;
  table["ReduceSumSquare"] = reduce_sum_square;
  table["ReduceL2"] = reduce_l2;
}

}  // namespace aflguard::models
