#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/result.h"

namespace aflguard::datasets {

/// The pixels of an 8-bit RGB .png of exactly this size, three bytes each, row by row. Another size or kind
/// of image is refused before memory is taken for it.
[[nodiscard]] Result<std::vector<std::uint8_t>> read_png_rgb(const std::filesystem::path& path,
                                                             std::size_t width, std::size_t height);

}  // namespace aflguard::datasets
