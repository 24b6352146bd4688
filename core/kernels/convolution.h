#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/kernels/conv_plan.h"
#include "core/kernels/kernels.h"
#include "core/kernels/pooled_gradient.h"

namespace aflguard::kernels {

/// One convolution with its address tables and scratch memory: [samples][channels][height][width] in and out.
/// Scratch grows with the shape of one sample, never with the batch. Not thread-safe.
class Convolution final {
 public:
  Convolution(const ConvShape& shape, const KernelTable& kernels);

  [[nodiscard]] const ConvShape& shape() const { return plan_.shape; }
  /// Bytes per sample of the record of which pixel won each pooling window.
  [[nodiscard]] std::size_t choice_size() const;

  struct Forward {
    std::size_t samples;
    const float* x;
    const float* weights;  ///< [out][in][kernel_h][kernel_w]
    const float* bias;     ///< [out]; may be null
    bool rectify;
    float* y;               ///< [samples][out][out_h][out_w]
    std::uint8_t* choices;  ///< samples * choice_size(); only with pooling
  };
  void forward(const Forward& task);

  struct Backward {
    std::size_t samples;
    const float* x;
    const float* weights;
    const float* dy;
    const float* y;  ///< the forward result, for the rectifier's mask; null without one or with pooling
    const std::uint8_t* choices;  ///< from forward; only with pooling
    float* dx;                    ///< may be null: not wanted
    float* dweights;
    float* dbias;  ///< may be null
  };
  void backward(const Backward& task);

 private:
  [[nodiscard]] const float* padded_input(const float* sample);
  [[nodiscard]] const float* rectified(const float* dy, const float* y);
  void place_gradient(const float* dy);
  void input_gradient(float* dx);
  void pooled_backward(const Backward& task);

  ConvPlan plan_;
  std::optional<PooledGradient> pooled_;  ///< with pooling: the gradients' own way
  const KernelTable& kernels_;
  std::vector<float> padded_x_;
  std::vector<float> weight_panel_;
  std::vector<float> gradient_panel_;   ///< one sample's output gradient, [pixel][channel]
  std::vector<float> masked_gradient_;  ///< one sample's output gradient behind the rectifier
  std::vector<float> padded_gradient_;  ///< the same, [channel][row][column] with margins
  std::vector<float> weight_sums_;      ///< [tap][channel]
  std::vector<std::vector<float>> phase_panels_;
};

}  // namespace aflguard::kernels
