#pragma once

#include <cstddef>
#include <vector>

namespace aflguard::kernels {

/// A two-dimensional convolution of one group, optionally followed by max pooling over windows that do not
/// overlap.
struct ConvShape {
  std::size_t in_channels = 0, height = 0, width = 0;
  std::size_t out_channels = 0, kernel_h = 1, kernel_w = 1;
  std::size_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  std::size_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  std::size_t pool_h = 1, pool_w = 1;  ///< 1 x 1: no pooling; windows that do not fit whole are left out

  [[nodiscard]] std::size_t conv_h() const;
  [[nodiscard]] std::size_t conv_w() const;
  [[nodiscard]] std::size_t out_h() const { return conv_h() / pool_h; }
  [[nodiscard]] std::size_t out_w() const { return conv_w() / pool_w; }
  [[nodiscard]] std::size_t out_plane() const { return out_h() * out_w(); }
  [[nodiscard]] std::size_t window() const { return pool_h * pool_w; }
  [[nodiscard]] std::size_t taps() const { return in_channels * kernel_h * kernel_w; }
  [[nodiscard]] bool padded() const { return pad_top + pad_left + pad_bottom + pad_right > 0; }
  /// A kernel that fits the padded image, at least one output, windows that the kernels can hold.
  [[nodiscard]] bool valid() const;

  friend bool operator==(const ConvShape&, const ConvShape&) = default;
};

/// Address tables of a convolution: made once per shape, used for every sample.
struct ConvPlan {
  explicit ConvPlan(const ConvShape& shape);

  ConvShape shape;
  std::size_t padded_h, padded_w;    ///< of the input image
  std::vector<std::ptrdiff_t> taps;  ///< (channel, row, column) of the kernel -> offset in the padded image
  std::vector<std::ptrdiff_t> weight_rows;  ///< the same taps -> offset in one output channel's weights
  std::vector<std::ptrdiff_t> pixels;  ///< convolution results, window after window -> offset in the image

  /// Input pixels that see the same taps of the kernel: with stride s there are up to s * s such phases.
  struct Phase {
    std::vector<std::ptrdiff_t> taps;         ///< offset in the padded gradient image
    std::vector<std::ptrdiff_t> weight_rows;  ///< offset in the weights of input channel 0
    std::vector<std::ptrdiff_t> pixels;       ///< offset in the padded gradient image
    std::vector<std::ptrdiff_t> positions;    ///< offset in a plane of the input's gradient
  };
  std::size_t gradient_h, gradient_w;       ///< of the padded output gradient
  std::size_t gradient_top, gradient_left;  ///< where the real output gradient starts in it
  std::vector<std::ptrdiff_t>
      gradient_positions;  ///< results in the order of `pixels` -> offset in its plane
  std::vector<Phase> phases;

 private:
  void plan_forward();
  void plan_input_gradient();
};

}  // namespace aflguard::kernels
