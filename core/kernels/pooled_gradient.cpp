#include "core/kernels/pooled_gradient.h"

#include <algorithm>

#include "core/kernels/workers.h"

namespace aflguard::kernels {

PooledGradient::PooledGradient(const ConvPlan& plan, const KernelTable& kernels)
    : shape_(plan.shape),
      padded_h_(plan.padded_h),
      padded_w_(plan.padded_w),
      pixels_(plan.pixels),
      taps_(plan.taps),
      kernels_(kernels) {}

void PooledGradient::add_run(std::size_t offset, std::size_t stride, std::size_t vectors) {
  for (std::size_t done = 0; done < vectors; done += kMaxSegment) {
    segments_.push_back(
        {offset + done * 8, stride, weight_of_.size() + done * 8, std::min(kMaxSegment, vectors - done)});
  }
}

void PooledGradient::plan_patches() {
  const std::size_t vectors = (taps_.size() + 7) / 8;
  add_run(0, vectors * 8, vectors);
  for (std::size_t k = 0; k < vectors * 8; ++k) {
    weight_of_.push_back(k < taps_.size() ? static_cast<std::ptrdiff_t>(k) : -1);
  }
  panel_row_.resize(pixels_.size());
  for (std::size_t i = 0; i < pixels_.size(); ++i) panel_row_[i] = static_cast<std::uint32_t>(i);
  panel_size_ = pixels_.size() * vectors * 8;
}

void PooledGradient::plan_turned_image() {
  const std::size_t plane = padded_h_ * padded_w_;
  // Neighbouring pixels are neighbours in the panel: without dilation a whole kernel row is one run.
  const bool contiguous = shape_.dilation_w == 1;
  std::size_t block_start = 0;
  for (std::size_t first = 0; first < shape_.in_channels; first += kBlock) {
    const std::size_t width = block_width(shape_.in_channels, first);
    const std::size_t run = (contiguous ? shape_.kernel_w : 1) * width;
    for (std::size_t i = 0; i < shape_.kernel_h; ++i) {
      for (std::size_t j = 0; j < (contiguous ? 1 : shape_.kernel_w); ++j) {
        const std::size_t pixel = i * shape_.dilation_h * padded_w_ + j * shape_.dilation_w;
        add_run(block_start + pixel * width, width, run / 8);
        for (std::size_t k = 0; k < run; ++k) {
          const std::size_t channel = first + k % width;
          const std::size_t weight = (channel * shape_.kernel_h + i) * shape_.kernel_w + j + k / width;
          weight_of_.push_back(channel < shape_.in_channels ? static_cast<std::ptrdiff_t>(weight) : -1);
        }
      }
    }
    block_start += plane * width;
  }
  // Segments of one kind side by side, so that they can be worked on in pairs.
  std::stable_sort(segments_.begin(), segments_.end(), [](const Segment& a, const Segment& b) {
    return a.stride != b.stride ? a.stride < b.stride : a.vectors < b.vectors;
  });
  panel_row_.assign(pixels_.begin(), pixels_.end());
  panel_size_ = plane * padded_columns(shape_.in_channels);
}

std::size_t PooledGradient::begin(const float* weights, bool wants_input_gradient, std::size_t samples,
                                  std::size_t workers) {
  const bool patches = !wants_input_gradient && shape_.in_channels < kHalfBlock;
  if (!planned_ || patches != patches_) {
    patches_ = patches;
    planned_ = true;
    segments_.clear();
    weight_of_.clear();
    patches ? plan_patches() : plan_turned_image();
    slots_.clear();
  }
  const std::size_t group =
      group_size(workers, samples, panel_size_ + 2 * shape_.out_channels * shape_.out_plane());
  if (slots_.size() < group) slots_.resize(group);
  if (places_.size() < workers) places_.resize(workers);
  pieces_ = std::min(workers, shape_.out_channels);
  const std::size_t row = weight_of_.size();
  weight_sums_.assign(shape_.out_channels * row, 0.0F);
  bias_sums_.assign(shape_.out_channels, 0.0F);
  if (!wants_input_gradient) return group;
  weight_rows_.resize(shape_.out_channels * row);
  for (std::size_t o = 0; o < shape_.out_channels; ++o) {
    const float* from = weights + o * shape_.taps();
    for (std::size_t k = 0; k < row; ++k)
      weight_rows_[o * row + k] = weight_of_[k] < 0 ? 0.0F : from[weight_of_[k]];
  }
  return group;
}

void PooledGradient::fill_image_panel(const float* image, Slot& slot) const {
  const std::size_t plane = padded_h_ * padded_w_;
  // Patches have numbers behind the last tap, which stay zero.
  slot.image_panel.resize(panel_size_);
  float* to = slot.image_panel.data();
  if (!patches_) return kernels_.planes_to_panel(image, nullptr, plane, plane, shape_.in_channels, to);
  const std::size_t row = weight_of_.size();
  // Taps of one kernel row are neighbours without dilation, and three of them is what most networks have.
  const bool threes = shape_.dilation_w == 1 && shape_.kernel_w == 3;
  const std::ptrdiff_t* const taps = taps_.data();
  const std::size_t count = taps_.size();
  for (const std::ptrdiff_t pixel : pixels_) {
    const float* const from = image + pixel;
    if (threes) {
      for (std::size_t k = 0; k < count; k += 3) {
        const float* const three = from + taps[k];
        to[k] = three[0], to[k + 1] = three[1], to[k + 2] = three[2];
      }
    } else {
      for (std::size_t k = 0; k < count; ++k) to[k] = from[taps[k]];
    }
    to += row;
  }
}

void PooledGradient::find_winners(const float* dy, const std::uint8_t* choices, Slot& slot) const {
  const std::size_t groups = shape_.out_plane();
  const std::size_t window = shape_.window();
  slot.winners.resize(shape_.out_channels * groups);
  slot.bias.resize(shape_.out_channels);
  WeightedRow* const winners = slot.winners.data();
  WeightedRow* next = winners;
  slot.first_winner.assign(1, 0);
  for (std::size_t o = 0; o < shape_.out_channels; ++o) {
    const std::size_t block = o / kBlock * kBlock;
    const std::size_t width = block_width(shape_.out_channels, block);
    const std::uint8_t* choice = choices + block * groups + o % kBlock;
    const std::uint32_t* rows = panel_row_.data();
    const float* const end = dy + groups;
    float sum = 0;
    for (; dy != end; ++dy, choice += width, rows += window) {
      // Written without a branch, which the processor could not foresee: a closed result is overwritten by
      // the next.
      const bool open = *choice != kNoChoice;
      *next = {rows[open ? *choice : 0], *dy};
      sum += open ? *dy : 0.0F;
      next += open ? 1 : 0;
    }
    slot.bias[o] = sum;
    slot.first_winner.push_back(static_cast<std::size_t>(next - winners));
  }
}

/// Calls task(a, b) for segments of equal length and stride, b null for one that is left over.
template <typename Task>
void PooledGradient::for_each_segment_pair(Task&& task) const {
  for (std::size_t i = 0; i < segments_.size();) {
    const Segment& a = segments_[i];
    const bool pair = i + 1 < segments_.size() && segments_[i + 1].vectors == a.vectors &&
                      segments_[i + 1].stride == a.stride;
    task(a, pair ? &segments_[i + 1] : nullptr);
    i += pair ? 2 : 1;
  }
}

void PooledGradient::add_channel(const Slot& slot, std::size_t channel) {
  const std::size_t first = slot.first_winner[channel];
  const std::size_t count = slot.first_winner[channel + 1] - first;
  float* sums = weight_sums_.data() + channel * weight_of_.size();
  for_each_segment_pair([&](const Segment& a, const Segment* b) {
    const Segment& other = b == nullptr ? a : *b;  // not read when there is none
    kernels_.add_weighted_rows({b == nullptr ? 1U : 2U,
                                {slot.image_panel.data() + a.offset, slot.image_panel.data() + other.offset},
                                a.stride,
                                slot.winners.data() + first,
                                count,
                                a.vectors,
                                {sums + a.index, sums + other.index}});
  });
  bias_sums_[channel] += slot.bias[channel];
}

void PooledGradient::add_weight_gradient(std::size_t piece, std::size_t samples) {
  const std::size_t first = shape_.out_channels * piece / pieces_;
  const std::size_t end = shape_.out_channels * (piece + 1) / pieces_;
  for (std::size_t slot = 0; slot < samples; ++slot) {
    for (std::size_t channel = first; channel < end; ++channel) add_channel(slots_[slot], channel);
  }
}

/// A counting sort by pixel; placing an entry moves its pixel's start, so that starts end up as ends.
void PooledGradient::sort_winners(const Slot& slot, Place& place) const {
  const std::size_t plane = padded_h_ * padded_w_;
  const std::size_t count = slot.first_winner.back();
  place.end_of_pixel.assign(plane + 1, 0);
  place.by_pixel.resize(slot.winners.size());
  for (std::size_t i = 0; i < count; ++i) ++place.end_of_pixel[slot.winners[i].row + 1];
  for (std::size_t p = 0; p < plane; ++p) place.end_of_pixel[p + 1] += place.end_of_pixel[p];
  for (std::size_t o = 0; o < shape_.out_channels; ++o) {
    for (std::size_t i = slot.first_winner[o]; i < slot.first_winner[o + 1]; ++i) {
      place.by_pixel[place.end_of_pixel[slot.winners[i].row]++] = {static_cast<std::uint32_t>(o),
                                                                   slot.winners[i].weight};
    }
  }
}

void PooledGradient::write_input_gradient(const Slot& slot, Place& place, float* dx) const {
  const std::size_t plane = padded_h_ * padded_w_;
  const std::size_t row = weight_of_.size();
  sort_winners(slot, place);
  place.image_gradient_panel.assign(plane * padded_columns(shape_.in_channels), 0.0F);
  float* gradient = place.image_gradient_panel.data();
  std::size_t begin = 0;
  for (std::size_t p = 0; p < plane; ++p) {
    const std::size_t end = place.end_of_pixel[p];
    if (end == begin) continue;
    for_each_segment_pair([&](const Segment& a, const Segment* b) {
      const Segment& other = b == nullptr ? a : *b;
      kernels_.add_weighted_rows(
          {b == nullptr ? 1U : 2U,
           {weight_rows_.data() + a.index, weight_rows_.data() + other.index},
           row,
           place.by_pixel.data() + begin,
           end - begin,
           a.vectors,
           {gradient + a.offset + p * a.stride, gradient + other.offset + p * other.stride}});
    });
    begin = end;
  }
  if (shape_.padded()) place.padded_gradient.resize(shape_.in_channels * plane);
  float* planes = shape_.padded() ? place.padded_gradient.data() : dx;
  kernels_.panel_to_planes(gradient, plane, shape_.in_channels, planes, plane);
  if (!shape_.padded()) return;
  for (std::size_t c = 0; c < shape_.in_channels; ++c) {
    for (std::size_t y = 0; y < shape_.height; ++y) {
      const std::size_t from = (c * padded_h_ + y + shape_.pad_top) * padded_w_ + shape_.pad_left;
      std::copy_n(planes + from, shape_.width, dx + (c * shape_.height + y) * shape_.width);
    }
  }
}

void PooledGradient::take_sample(std::size_t slot, std::size_t worker, const float* image, const float* dy,
                                 const std::uint8_t* choices, float* dx) {
  find_winners(dy, choices, slots_[slot]);
  fill_image_panel(image, slots_[slot]);
  if (dx != nullptr) write_input_gradient(slots_[slot], places_[worker], dx);
}

void PooledGradient::finish(float* dweights, float* dbias) {
  const std::size_t row = weight_of_.size();
  for (std::size_t o = 0; o < shape_.out_channels; ++o) {
    for (std::size_t k = 0; k < row; ++k) {
      if (weight_of_[k] < 0) continue;
      dweights[o * shape_.taps() + static_cast<std::size_t>(weight_of_[k])] = weight_sums_[o * row + k];
    }
  }
  if (dbias != nullptr) std::copy(bias_sums_.begin(), bias_sums_.end(), dbias);
}

}  // namespace aflguard::kernels
