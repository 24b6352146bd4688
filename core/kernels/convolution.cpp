#include "core/kernels/convolution.h"

#include <algorithm>

#include "core/base/check.h"

namespace aflguard::kernels {

Convolution::Convolution(const ConvShape& shape, const KernelTable& kernels)
    : plan_(shape), kernels_(kernels) {
  check(shape.valid(), "a convolution whose kernel does not fit its image");
  if (shape.window() > 1) pooled_.emplace(plan_, kernels);
  if (shape.padded()) padded_x_.assign(shape.in_channels * plan_.padded_h * plan_.padded_w, 0.0F);
  weight_panel_.resize(shape.taps() * padded_columns(shape.out_channels));
}

std::size_t Convolution::choice_size() const {
  const ConvShape& s = plan_.shape;
  return s.window() == 1 ? 0 : s.out_plane() * padded_columns(s.out_channels);
}

const float* Convolution::padded_input(const float* sample) {
  const ConvShape& s = plan_.shape;
  if (!s.padded()) return sample;
  // The margins were zeroed at construction and stay so.
  for (std::size_t c = 0; c < s.in_channels; ++c) {
    float* plane = padded_x_.data() + (c * plan_.padded_h + s.pad_top) * plan_.padded_w + s.pad_left;
    for (std::size_t y = 0; y < s.height; ++y) {
      std::copy_n(sample + (c * s.height + y) * s.width, s.width, plane + y * plan_.padded_w);
    }
  }
  return padded_x_.data();
}

void Convolution::forward(const Forward& task) {
  const ConvShape& s = plan_.shape;
  kernels_.pack_panel(task.weights, plan_.weight_rows.data(), plan_.taps.size(), plan_.taps.size(),
                      s.out_channels, weight_panel_.data());
  const Gather gather{plan_.pixels.data(), plan_.pixels.size(), plan_.taps.data(), plan_.taps.size()};
  for (std::size_t n = 0; n < task.samples; ++n) {
    const float* image = padded_input(task.x + n * s.in_channels * s.height * s.width);
    const Planes out{task.y + n * s.out_channels * s.out_plane(), s.out_plane(), nullptr, task.bias,
                     task.rectify};
    if (s.window() == 1) {
      kernels_.gather_product(image, gather, weight_panel_.data(), s.out_channels, out);
    } else {
      kernels_.gather_product_max(image, gather, weight_panel_.data(), s.out_channels, s.window(), out,
                                  task.choices + n * choice_size());
    }
  }
}

const float* Convolution::rectified(const float* dy, const float* y) {
  if (y == nullptr) return dy;
  masked_gradient_.resize(plan_.shape.out_channels * plan_.shape.out_plane());
  for (std::size_t i = 0; i < masked_gradient_.size(); ++i) masked_gradient_[i] = y[i] > 0 ? dy[i] : 0.0F;
  return masked_gradient_.data();
}

void Convolution::place_gradient(const float* dy) {
  const ConvShape& s = plan_.shape;
  const std::size_t plane = plan_.gradient_h * plan_.gradient_w;
  // The margins were zeroed when the memory was made and stay so.
  for (std::size_t o = 0; o < s.out_channels; ++o) {
    float* to =
        padded_gradient_.data() + o * plane + plan_.gradient_top * plan_.gradient_w + plan_.gradient_left;
    for (std::size_t y = 0; y < s.out_h(); ++y) {
      std::copy_n(dy + o * s.out_plane() + y * s.out_w(), s.out_w(), to + y * plan_.gradient_w);
    }
  }
}

void Convolution::input_gradient(float* dx) {
  const ConvShape& s = plan_.shape;
  for (std::size_t i = 0; i < plan_.phases.size(); ++i) {
    const ConvPlan::Phase& phase = plan_.phases[i];
    const Gather gather{phase.pixels.data(), phase.pixels.size(), phase.taps.data(), phase.taps.size()};
    const Planes out{dx, s.height * s.width, plan_.phases.size() == 1 ? nullptr : phase.positions.data(),
                     nullptr, false};
    kernels_.gather_product(padded_gradient_.data(), gather, phase_panels_[i].data(), s.in_channels, out);
  }
}

void Convolution::backward(const Backward& task) {
  const ConvShape& s = plan_.shape;
  if (pooled_) return pooled_backward(task);
  const std::size_t columns = padded_columns(s.out_channels);
  const std::size_t out_size = s.out_channels * s.out_plane();
  gradient_panel_.resize(plan_.pixels.size() * columns);
  weight_sums_.assign(plan_.taps.size() * columns, 0.0F);
  if (task.dbias != nullptr) std::fill_n(task.dbias, s.out_channels, 0.0F);
  if (task.dx != nullptr) {
    padded_gradient_.resize(s.out_channels * plan_.gradient_h * plan_.gradient_w);
    phase_panels_.resize(plan_.phases.size());
    for (std::size_t i = 0; i < plan_.phases.size(); ++i) {
      const ConvPlan::Phase& phase = plan_.phases[i];
      phase_panels_[i].resize(phase.taps.size() * padded_columns(s.in_channels));
      kernels_.pack_panel(task.weights, phase.weight_rows.data(), phase.taps.size(), s.kernel_h * s.kernel_w,
                          s.in_channels, phase_panels_[i].data());
    }
  }
  const Gather gather{plan_.pixels.data(), plan_.pixels.size(), plan_.taps.data(), plan_.taps.size()};
  for (std::size_t n = 0; n < task.samples; ++n) {
    const float* dy = rectified(task.dy + n * out_size, task.y == nullptr ? nullptr : task.y + n * out_size);
    kernels_.planes_to_panel(dy, s.out_plane(), s.out_plane(), s.out_channels, gradient_panel_.data());
    kernels_.gather_outer(padded_input(task.x + n * s.in_channels * s.height * s.width), gather,
                          gradient_panel_.data(), s.out_channels, weight_sums_.data());
    if (task.dbias != nullptr) {
      kernels_.add_column_sums(gradient_panel_.data(), plan_.pixels.size(), s.out_channels, task.dbias);
    }
    if (task.dx != nullptr) {
      place_gradient(dy);
      input_gradient(task.dx + n * s.in_channels * s.height * s.width);
    }
  }
  for (std::size_t o = 0; o < s.out_channels; ++o) {
    const std::size_t block = o / kBlock * kBlock;
    const std::size_t width = block_width(s.out_channels, block);
    const float* sums = weight_sums_.data() + block * plan_.taps.size() + o % kBlock;
    for (std::size_t q = 0; q < plan_.taps.size(); ++q)
      task.dweights[o * plan_.taps.size() + q] = sums[q * width];
  }
}

void Convolution::pooled_backward(const Backward& task) {
  const ConvShape& s = plan_.shape;
  const std::size_t in_size = s.in_channels * s.height * s.width;
  pooled_->begin(task.weights, task.dx != nullptr);
  for (std::size_t n = 0; n < task.samples; ++n) {
    pooled_->add_sample(padded_input(task.x + n * in_size), task.dy + n * s.out_channels * s.out_plane(),
                        task.choices + n * choice_size(),
                        task.dx == nullptr ? nullptr : task.dx + n * in_size);
  }
  pooled_->finish(task.dweights, task.dbias);
}

}  // namespace aflguard::kernels
