#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/kernels/conv_plan.h"
#include "core/kernels/kernels.h"
#include "core/kernels/pooled_gradient.h"
#include "core/kernels/workers.h"

namespace aflguard::kernels {

/// One convolution with its address tables: [samples][channels][height][width] in and out. Results are the
/// same bits for any number of workers: samples are independent, and sums over samples are shared out by
/// their rows, each of which adds up the samples in order. Scratch memory grows with the shape of a sample
/// and with the number of workers, not with the batch. Not thread-safe.
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
  void forward(const Forward& task, const Workshop& shop);

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
  void backward(const Backward& task, const Workshop& shop);

 private:
  struct BackwardRoom;
  [[nodiscard]] std::size_t padded_size() const;
  [[nodiscard]] const float* padded_input(const float* sample, float* room) const;
  [[nodiscard]] BackwardRoom cut_scratch(const Backward& task, const Workshop& shop) const;
  void pack_phases(const Backward& task, float* panels) const;
  void prepare_sample(const Backward& task, const BackwardRoom& room, std::size_t sample, std::size_t slot,
                      std::size_t worker) const;
  void input_gradient(const BackwardRoom& room, const float* gradient, float* dx) const;
  void add_weight_rows(const Backward& task, const BackwardRoom& room, std::size_t first_sample,
                       std::size_t samples, std::size_t piece) const;
  void write_weights(const BackwardRoom& room, float* dweights) const;
  void pooled_backward(const Backward& task, const Workshop& shop);

  ConvPlan plan_;
  std::optional<PooledGradient> pooled_;  ///< with pooling: the gradients' own way
  const KernelTable& kernels_;
};

}  // namespace aflguard::kernels
