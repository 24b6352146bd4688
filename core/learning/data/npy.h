#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/sample_range.h"

namespace aflguard {

/// A NumPy array file (.npy, format versions 1 to 3) in memory: little-endian, C order, as stored.
struct NpyArray {
  std::string dtype;  ///< NumPy's name of the element type: "<f4", "<i8", "|u1", ...
  std::vector<std::size_t> shape;
  std::vector<std::byte> data;
  /// The model layout that a theta file was made for, from a comment in the header that NumPy ignores; may be
  /// empty.
  std::string layout_hash;

  [[nodiscard]] std::size_t size() const;

  /// The elements as T; kInvalidInput (with the dtype found and the one wanted) when they are of another
  /// type.
  [[nodiscard]] Result<std::vector<float>> as_float32(const std::string& what) const;
  [[nodiscard]] Result<std::vector<std::int64_t>> as_int64(const std::string& what) const;
  [[nodiscard]] Result<std::vector<std::uint8_t>> as_uint8(const std::string& what) const;
};

/// Errors name the file and what is wrong with it: magic, version, header, dtype, order, or size.
/// Only `range` of the first dimension is read.
[[nodiscard]] Result<NpyArray> read_npy(const std::filesystem::path& path, const SampleRange& range = {});
[[nodiscard]] Result<NpyArray> parse_npy(std::span<const std::byte> bytes);

[[nodiscard]] Status write_npy(const std::filesystem::path& path, std::span<const float> values,
                               const std::vector<std::size_t>& shape, const std::string& layout_hash = {});
[[nodiscard]] Status write_npy(const std::filesystem::path& path, std::span<const std::int64_t> values,
                               const std::vector<std::size_t>& shape);

}  // namespace aflguard
