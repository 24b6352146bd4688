#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/data/sample_range.h"

namespace aflguard {

/// An array of bytes in the IDX format, the one MNIST is published in: two zero bytes, the element type
/// (8 = unsigned byte, the only one read here), the number of dimensions, each extent as a big-endian 32-bit
/// number, then the elements in row-major order.
struct IdxArray {
  std::vector<std::size_t> shape;
  std::vector<std::uint8_t> data;
};

struct IdxLimits {
  std::size_t dimensions = 4;
  std::uint64_t elements = std::uint64_t{1} << 32;
};

/// The file is refused, with the size found and the size its header asks for, before memory is taken for it.
/// Only `range` of the first dimension is read.
[[nodiscard]] Result<IdxArray> read_idx(const std::filesystem::path& path, const IdxLimits& limits = {},
                                        const SampleRange& range = {});
[[nodiscard]] Result<IdxArray> parse_idx(std::span<const std::byte> bytes, const IdxLimits& limits = {});

[[nodiscard]] Status write_idx(const std::filesystem::path& path, const std::vector<std::size_t>& shape,
                               std::span<const std::uint8_t> data);

/// Images [N, height, width] and labels [N] as a data set of one-channel images {1, height, width}.
[[nodiscard]] Result<Dataset> read_idx_dataset(const std::string& name, std::size_t classes,
                                               const std::filesystem::path& images,
                                               const std::filesystem::path& labels,
                                               const SampleRange& range = {});

}  // namespace aflguard
