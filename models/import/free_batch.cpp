#include "models/import/free_batch.h"

namespace aflguard::models {
namespace {

/// Fills in the -1 of `target`, where one is left.
Result<Shape> completed(const Dim& total, Shape target) {
  const Error misfit = invalid_input(text(total) + " elements cannot take the shape " + text(target));
  std::optional<std::size_t> open;
  Dim known;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i].is(-1)) {
      if (open) return misfit;
      open = i;
      continue;
    }
    const auto next = times(known, target[i]);
    if (target[i].value < 1 || !next) return misfit;
    known = *next;
  }
  const auto rest = divided(total, known);
  if (!rest || (!open && *rest != Dim{})) return misfit;
  if (open) target[*open] = *rest;
  return target;
}

/// Product of the first extents, batch or not; 0 when it is too large to count.
std::int64_t extent_product(const Shape& shape, std::size_t count) {
  std::int64_t result = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (__builtin_mul_overflow(result, shape[i].value, &result)) return 0;
  }
  return result;
}

/// Finds the extent at which the samples begin and makes it depend on the batch.
Result<Shape> with_batch(const Shape& input, Shape target, std::int64_t fixed) {
  const std::size_t from = *batch_axis(input);
  const std::int64_t before = extent_product(input, from);
  const auto begins_here = [&](std::size_t axis) {
    return extent_product(target, axis) == before && target[axis].value % fixed == 0;
  };
  std::optional<std::size_t> found;
  if (from < target.size() && begins_here(from)) found = from;
  for (std::size_t i = 0; i < target.size() && !found; ++i) {
    if (begins_here(i)) found = i;
  }
  if (!found) {
    return unsupported(
        "it reshapes " + text(input) + " to the fixed shape " + text(target) +
        ", which leaves no place for a free batch; export the model with a dynamic batch dimension");
  }
  target[*found] = {target[*found].value / fixed, true};
  return target;
}

}  // namespace

Result<Shape> reshaped(const Shape& input, const Shape& target, std::optional<std::int64_t> fixed_batch,
                       bool allow_zero) {
  const auto total = product(input);
  if (!total) return unsupported("the input " + text(input) + " is not linear in the batch");
  Shape wanted = target;
  for (std::size_t i = 0; i < wanted.size() && !allow_zero; ++i) {
    if (!wanted[i].is(0)) continue;
    if (i >= input.size())
      return invalid_input("extent " + std::to_string(i) + " is copied from an input of lower rank");
    wanted[i] = input[i];
  }
  if (depends_on_batch(wanted) || !total->batch) return completed(*total, std::move(wanted));
  bool open = false;
  for (const Dim& dim : wanted) open = open || dim.is(-1);
  if (!fixed_batch && open) return completed(*total, std::move(wanted));
  // Without a -1 the target itself says for which batch size it was written.
  const std::int64_t fixed =
      fixed_batch ? *fixed_batch : extent_product(wanted, wanted.size()) / total->value;
  if (fixed < 1) return invalid_input(text(*total) + " elements cannot take the shape " + text(wanted));
  const auto elements = times({total->value, false}, {fixed, false});
  if (!elements) return invalid_input("a batch of " + std::to_string(fixed) + " is too large");
  TRY(const Shape concrete, completed(*elements, std::move(wanted)));
  return with_batch(input, concrete, fixed);
}

}  // namespace aflguard::models
