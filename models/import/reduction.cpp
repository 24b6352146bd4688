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

Value largest(ImportContext& c, const Value& x, const Reduction& r, bool keep) {
  if (r.axes.empty()) return x;
  return c.g.emit("ReduceMax", {x}, {{"axes", r.axes}, {"keepdims", std::int64_t{keep}}});
}

Status reduce_max(ImportContext& c) {
  TRY(const Reduction r, read_reduction(c));
  c.give(0, largest(c, r.x, r, r.keep));
  return {};
}

Status reduce_min(ImportContext& c) {
  TRY(const Reduction r, read_reduction(c));
  c.give(0, c.g.neg(largest(c, c.g.neg(r.x), r, r.keep)));
  return {};
}

Status reduce_l1(ImportContext& c) {
  TRY(const Reduction r, read_reduction(c));
  c.give(0, c.g.reduce_sum(c.g.emit("Abs", {r.x}), r.axes, r.keep));
  return {};
}

/// Less the largest element, so that nothing overflows.
Status reduce_log_sum_exp(ImportContext& c) {
  TRY(const Reduction r, read_reduction(c));
  const Value small = c.g.emit("Exp", {c.g.sub(r.x, largest(c, r.x, r, true))});
  const Value sum = c.g.emit("Log", {c.g.reduce_sum(small, r.axes, r.keep)});
  c.give(0, c.g.add(sum, largest(c, r.x, r, r.keep)));
  return {};
}

}  // namespace

void add_reduction_imports(ImportTable& table) {
  table["ReduceSum"] = reduce_sum;
  table["ReduceMean"] = reduce_mean;
  table["ReduceSumSquare"] = reduce_sum_square;
  table["ReduceL2"] = reduce_l2;
  table["ReduceL1"] = reduce_l1;
  table["ReduceMax"] = reduce_max;
  table["ReduceMin"] = reduce_min;
  table["ReduceLogSumExp"] = reduce_log_sum_exp;
}

}  // namespace aflguard::models
