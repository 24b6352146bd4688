#include "core/aggregation/vectors/row_bundle.h"

#include "core/base/check.h"

namespace aflguard {

void RowBundle::set_row(std::size_t row, std::span<const float> values) {
  check(row < rows_ && values.size() == length_, "RowBundle::set_row of another shape");
  for (std::size_t i = 0; i < length_; ++i) {
    numbers_[(i / kTurn * rows_ + row) * kTurn + i % kTurn] = values[i];
  }
}

void RowBundle::copy_row(std::size_t row, std::span<float> values) const {
  check(row < rows_ && values.size() == length_, "RowBundle::copy_row of another shape");
  for (std::size_t i = 0; i < length_; ++i) values[i] = at(row, i);
}

}  // namespace aflguard
