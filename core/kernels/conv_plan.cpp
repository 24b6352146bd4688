#include "core/kernels/conv_plan.h"

#include <algorithm>

namespace aflguard::kernels {
namespace {

constexpr std::size_t kMaxWindow = 16;  // what gather_product_max holds

std::size_t extent(std::size_t padded, std::size_t kernel, std::size_t stride, std::size_t dilation) {
  const std::size_t reach = (kernel - 1) * dilation + 1;
  return padded < reach ? 0 : (padded - reach) / stride + 1;
}

std::ptrdiff_t signed_offset(std::size_t offset) {
  return static_cast<std::ptrdiff_t>(offset);
}

}  // namespace

std::size_t ConvShape::conv_h() const {
  return extent(height + pad_top + pad_bottom, kernel_h, stride_h, dilation_h);
}
std::size_t ConvShape::conv_w() const {
  return extent(width + pad_left + pad_right, kernel_w, stride_w, dilation_w);
}

bool ConvShape::valid() const {
  return in_channels > 0 && out_channels > 0 && kernel_h > 0 && kernel_w > 0 && stride_h > 0 &&
         stride_w > 0 && dilation_h > 0 && dilation_w > 0 && pool_h > 0 && pool_w > 0 &&
         window() <= kMaxWindow && out_plane() > 0;
}

ConvPlan::ConvPlan(const ConvShape& s) : shape(s) {
  padded_h = s.height + s.pad_top + s.pad_bottom;
  padded_w = s.width + s.pad_left + s.pad_right;
  plan_forward();
  plan_input_gradient();
}

void ConvPlan::plan_forward() {
  const ConvShape& s = shape;
  for (std::size_t c = 0; c < s.in_channels; ++c) {
    for (std::size_t i = 0; i < s.kernel_h; ++i) {
      for (std::size_t j = 0; j < s.kernel_w; ++j) {
        taps.push_back(signed_offset((c * padded_h + i * s.dilation_h) * padded_w + j * s.dilation_w));
        weight_rows.push_back(signed_offset(weight_rows.size()));
      }
    }
  }
  for (std::size_t y = 0; y < s.out_h(); ++y) {
    for (std::size_t x = 0; x < s.out_w(); ++x) {
      for (std::size_t i = y * s.pool_h; i < (y + 1) * s.pool_h; ++i) {
        for (std::size_t j = x * s.pool_w; j < (x + 1) * s.pool_w; ++j) {
          pixels.push_back(signed_offset(i * s.stride_h * padded_w + j * s.stride_w));
        }
      }
    }
  }
}

void ConvPlan::plan_input_gradient() {
  const ConvShape& s = shape;
  // Input row y = stride * m + phase - pad takes part in output row m - j through kernel row i, where
  // i * dilation = phase + stride * j. The margin keeps m - j inside the padded gradient.
  gradient_top = (s.kernel_h - 1) * s.dilation_h / s.stride_h;
  gradient_left = (s.kernel_w - 1) * s.dilation_w / s.stride_w;
  gradient_h = gradient_top + std::max(s.conv_h(), (s.height - 1 + s.pad_top) / s.stride_h + 1);
  gradient_w = gradient_left + std::max(s.conv_w(), (s.width - 1 + s.pad_left) / s.stride_w + 1);
  phases.resize(s.stride_h * s.stride_w);
  for (std::size_t o = 0; o < s.out_channels; ++o) {
    for (std::size_t i = 0; i < s.kernel_h; ++i) {
      for (std::size_t j = 0; j < s.kernel_w; ++j) {
        const std::size_t row = i * s.dilation_h;
        const std::size_t column = j * s.dilation_w;
        Phase& phase = phases[row % s.stride_h * s.stride_w + column % s.stride_w];
        phase.taps.push_back(signed_offset((o * gradient_h + gradient_top - row / s.stride_h) * gradient_w +
                                           gradient_left - column / s.stride_w));
        phase.weight_rows.push_back(signed_offset((o * s.in_channels * s.kernel_h + i) * s.kernel_w + j));
      }
    }
  }
  for (std::size_t y = 0; y < s.height; ++y) {
    for (std::size_t x = 0; x < s.width; ++x) {
      const std::size_t row = y + s.pad_top;
      const std::size_t column = x + s.pad_left;
      Phase& phase = phases[row % s.stride_h * s.stride_w + column % s.stride_w];
      phase.pixels.push_back(signed_offset(row / s.stride_h * gradient_w + column / s.stride_w));
      phase.positions.push_back(signed_offset(y * s.width + x));
    }
  }
}

}  // namespace aflguard::kernels
