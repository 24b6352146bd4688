#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace aflguard {

/// The product of the extents; 1 for a scalar's empty shape.
[[nodiscard]] std::size_t element_count(const std::vector<std::size_t>& shape);
[[nodiscard]] std::string shape_text(const std::vector<std::size_t>& shape);  // "[2, 3]"

}  // namespace aflguard
