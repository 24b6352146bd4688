#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "models/graph/graph.h"

namespace aflguard::models {

/// Larger kernels, strides, dilations and paddings are refused: sizes computed from them cannot overflow.
inline constexpr std::int64_t kMaxWindowExtent = 65'536;

/// The sliding window of a convolution or pooling, one entry per spatial axis, with explicit padding.
struct Window {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads_begin;
  std::vector<std::int64_t> pads_end;

  [[nodiscard]] std::size_t rank() const { return kernel.size(); }
  /// Extent of the input under the window, holes included.
  [[nodiscard]] std::int64_t reach(std::size_t axis) const {
    return dilations[axis] * (kernel[axis] - 1) + 1;
  }
  /// Number of positions along an input of this extent; below 1 when the window does not fit.
  [[nodiscard]] std::int64_t positions(std::size_t axis, std::int64_t extent) const;
  /// Input extents that no window touches at the end (0 <= result < stride): what a transposed convolution
  /// must add to give the input's shape back.
  [[nodiscard]] std::int64_t unused(std::size_t axis, std::int64_t extent) const;
  [[nodiscard]] std::int64_t kernel_size() const;
  [[nodiscard]] bool padded() const;
  [[nodiscard]] std::vector<std::int64_t> pads() const;  ///< begins, then ends, as ONNX stores them
  /// kernel_shape, strides, dilations and pads as node attributes.
  [[nodiscard]] Attributes attributes() const;
};

/// Reads a node's attributes, without auto_pad: importing has made padding explicit.
[[nodiscard]] Result<Window> read_window(const Node& node, std::vector<std::int64_t> kernel);

}  // namespace aflguard::models
