#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernels/conv_plan.h"
#include "core/kernels/kernels.h"

namespace aflguard::kernels {

/// Gradients of a convolution with max pooling behind it. Only the pixel that won its window has a gradient,
/// a quarter of them with 2 x 2 windows, so sums run over the winners alone instead of over all pixels.
///
/// Sums need what a pixel's kernel sees to be contiguous, in runs called segments. There are two ways to
/// that:
/// - the image turned to [pixel][channel], where a kernel row is one run: good from eight channels on, and
/// the input's
///   gradient has the same form;
/// - for images of few channels, one row per pixel with everything its kernel sees (patches): only for the
/// weights.
class PooledGradient final {
 public:
  PooledGradient(const ConvPlan& plan, const KernelTable& kernels);

  /// Returns how many samples are kept at once: so many slots there are. Samples go through in groups: first
  /// take_sample() for each, in any order and by any worker, then add_weight_gradient() for each piece.
  [[nodiscard]] std::size_t begin(const float* weights, bool wants_input_gradient, std::size_t samples,
                                  std::size_t workers);
  /// `image` is padded; `dy` and `choices` are one sample's; `dx` is null unless begin() was told otherwise.
  void take_sample(std::size_t slot, std::size_t worker, const float* image, const float* dy,
                   const std::uint8_t* choices, float* dx);
  /// Into which the output channels are shared out.
  [[nodiscard]] std::size_t pieces() const { return pieces_; }
  /// Adds slots 0 to samples - 1, in this order, to the sums of one piece.
  void add_weight_gradient(std::size_t piece, std::size_t samples);
  void finish(float* dweights, float* dbias);

 private:
  struct Segment {
    std::size_t offset;  ///< of pixel 0's segment in the image panel
    std::size_t stride;  ///< from pixel to pixel in the image panel
    std::size_t index;   ///< in a row of weights or of their sums
    std::size_t vectors;
  };

  void plan_patches();
  void plan_turned_image();
  void add_run(std::size_t offset, std::size_t stride, std::size_t vectors);
  /// What the weights' sums need of one sample.
  struct Slot {
    std::vector<float> image_panel;
    std::vector<WeightedRow> winners;       ///< panel row and gradient, channel after channel
    std::vector<std::size_t> first_winner;  ///< of each channel; one more at the end
    std::vector<float> bias;                ///< the sample's sum of each channel
  };
  /// What a worker needs for an input's gradient.
  struct Place {
    std::vector<float> image_gradient_panel;
    std::vector<float> padded_gradient;
    std::vector<WeightedRow> by_pixel;  ///< the winners: channel and gradient, pixel after pixel
    std::vector<std::size_t> end_of_pixel;
  };

  void fill_image_panel(const float* image, Slot& slot) const;
  void find_winners(const float* dy, const std::uint8_t* choices, Slot& slot) const;
  void sort_winners(const Slot& slot, Place& place) const;
  void write_input_gradient(const Slot& slot, Place& place, float* dx) const;
  void add_channel(const Slot& slot, std::size_t channel);
  template <typename Task>
  void for_each_segment_pair(Task&& task) const;

  // Copied from the plan: this object may be moved together with its owner.
  ConvShape shape_;
  std::size_t padded_h_, padded_w_;
  std::vector<std::ptrdiff_t> pixels_;
  std::vector<std::ptrdiff_t> taps_;
  const KernelTable& kernels_;

  bool patches_ = false;
  bool planned_ = false;
  std::vector<Segment> segments_;
  std::vector<std::ptrdiff_t>
      weight_of_;  ///< position in a row -> offset in one output channel's weights, or -1
  std::vector<std::uint32_t> panel_row_;  ///< candidate (window * size + choice) -> row of the image panel
  std::vector<float> weight_rows_;        ///< [out channel][segments]
  std::vector<float> weight_sums_;        ///< the same for their gradient
  std::vector<float> bias_sums_;
  std::size_t panel_size_ = 0;
  std::size_t pieces_ = 1;
  std::vector<Slot> slots_;
  std::vector<Place> places_;
};

}  // namespace aflguard::kernels
