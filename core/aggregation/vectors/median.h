#pragma once

#include <span>
#include <vector>

namespace aflguard {

/// The middle number, or the mean of the two middle ones. At least one number, none of them NaN. `spare` is
/// memory to work in.
[[nodiscard]] double median_of(std::span<const double> numbers, std::vector<double>& spare);

}  // namespace aflguard
