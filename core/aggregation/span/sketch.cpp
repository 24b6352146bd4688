#include "core/aggregation/span/sketch.h"

#include <bit>

#include "core/aggregation/vectors/span_kernels.h"

namespace aflguard {
namespace {

std::uint64_t key_from(std::span<const float> numbers) {
  std::uint64_t key = 1;
  for (const float number : numbers) key = sketch_place(key, std::bit_cast<std::uint32_t>(number) + 1ULL);
  return key == 0 ? 1 : key;
}

}  // namespace

void ResidualSketcher::meet(const RowBundle& classes) {
  std::vector<float> row(classes.length());
  classes_.clear();
  for (std::size_t c = 0; c < classes.rows(); ++c) {
    classes.copy_row(c, row);
    if (key_ == 0) key_ = key_from(row);
    classes_.push_back(sketch_of(row, key_));
  }
  if (key_ == 0) key_ = 1;  // there are no classes
}

std::vector<float> ResidualSketcher::residual(std::span<const float> update,
                                              const std::vector<double>& projection) const {
  std::vector<float> sketch = sketch_of(update, key_);
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const auto share = static_cast<float>(projection[c]);
    for (std::size_t i = 0; i < sketch.size(); ++i) sketch[i] -= share * classes_[c][i];
  }
  return sketch;
}

}  // namespace aflguard
