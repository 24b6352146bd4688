#include "core/kernels/convolution.h"

#include <algorithm>

#include "core/base/check.h"

namespace aflguard::kernels {

Convolution::Convolution(const ConvShape& shape, const KernelTable& kernels)
    : plan_(shape), kernels_(kernels) {
  check(shape.valid(), "a convolution whose kernel does not fit its image");
  if (shape.window() > 1) pooled_.emplace(plan_, kernels);
}

std::size_t Convolution::choice_size() const {
  const ConvShape& s = plan_.shape;
  return s.window() == 1 ? 0 : s.out_plane() * padded_columns(s.out_channels);
}

std::size_t Convolution::padded_size() const {
  const ConvShape& s = plan_.shape;
  return s.padded() ? s.in_channels * plan_.padded_h * plan_.padded_w : 0;
}

/// The sample itself where there is nothing to pad.
const float* Convolution::padded_input(const float* sample, float* room) const {
  const ConvShape& s = plan_.shape;
  if (!s.padded()) return sample;
  kernels_.pad_planes({sample, nullptr, s.in_channels, s.height, s.width, room, plan_.padded_h,
                       plan_.padded_w, s.pad_top, s.pad_left});
  return room;
}

void Convolution::forward(const Forward& task, const Workshop& shop) {
  const ConvShape& s = plan_.shape;
  ScratchCutter cutter;
  const std::size_t panel_at = cutter.add(s.taps() * padded_columns(s.out_channels));
  const std::size_t first_image = cutter.total();
  for (std::size_t worker = 0; worker < shop.workers.count(); ++worker) cutter.add(padded_size());
  const std::size_t image_stride = (cutter.total() - first_image) / shop.workers.count();
  float* const scratch = shop.scratch.floats(cutter.total());
  float* const panel = scratch + panel_at;
  kernels_.pack_panel(task.weights, plan_.weight_rows.data(), plan_.taps.size(), plan_.taps.size(),
                      s.out_channels, panel);
  const Gather gather{plan_.pixels.data(), plan_.pixels.size(), plan_.taps.data(), plan_.taps.size()};
  const std::size_t in_size = s.in_channels * s.height * s.width;
  const std::size_t out_plane = s.out_plane();
  for_each_item(shop.workers, task.samples, [&](std::size_t n, std::size_t worker) {
    const float* image = padded_input(task.x + n * in_size, scratch + first_image + worker * image_stride);
    const Planes out{task.y + n * s.out_channels * out_plane, out_plane, nullptr, task.bias, task.rectify};
    if (s.window() == 1) {
      kernels_.gather_product(image, gather, panel, s.out_channels, out);
    } else {
      kernels_.gather_product_max(image, gather, panel, s.out_channels, s.window(), out,
                                  task.choices + n * choice_size());
    }
  });
}

/// Scratch memory of one backward pass, cut into parts.
struct Convolution::BackwardRoom {
  std::size_t columns = 0;  ///< of a panel of output channels
  std::size_t group = 0;    ///< samples that are kept at once
  std::size_t pieces = 0;   ///< into which the rows of the weights' sums are shared out
  std::size_t piece_rows = 0;
  float* base = nullptr;
  std::size_t sums = 0;  ///< all rows of the weights' sums, piece after piece
  std::size_t phase_panels = 0;
  std::size_t image = 0, image_stride = 0;        ///< of each sample of the group
  std::size_t panel = 0, panel_stride = 0;        ///< the same: its output gradient, [pixel][channel]
  std::size_t gradient = 0, gradient_stride = 0;  ///< of each worker: an output gradient with margins
};

Convolution::BackwardRoom Convolution::cut_scratch(const Backward& task, const Workshop& shop) const {
  const ConvShape& s = plan_.shape;
  constexpr std::size_t kLeastRows = 6;  // a tile
  const std::size_t workers = shop.workers.count();
  const std::size_t taps = plan_.taps.size();
  BackwardRoom room;
  room.columns = padded_columns(s.out_channels);
  const std::size_t panel_size = plan_.pixels.size() * room.columns;
  room.group = group_size(workers, task.samples, padded_size() + panel_size);
  room.piece_rows =
      workers == 1 ? taps : (taps + workers * kLeastRows - 1) / (workers * kLeastRows) * kLeastRows;
  room.pieces = (taps + room.piece_rows - 1) / room.piece_rows;
  ScratchCutter cutter;
  const auto several = [&cutter](std::size_t count, std::size_t size, std::size_t& first,
                                 std::size_t& stride) {
    first = cutter.total();
    for (std::size_t i = 0; i < count; ++i) cutter.add(size);
    stride = (cutter.total() - first) / count;
  };
  room.sums = cutter.add(taps * room.columns);
  std::size_t phase_taps = 0;
  for (const ConvPlan::Phase& phase : plan_.phases) phase_taps += phase.taps.size();
  room.phase_panels = cutter.add(task.dx == nullptr ? 0 : phase_taps * padded_columns(s.in_channels));
  several(room.group, padded_size(), room.image, room.image_stride);
  several(room.group, panel_size, room.panel, room.panel_stride);
  several(workers, task.dx == nullptr ? 0 : s.out_channels * plan_.gradient_h * plan_.gradient_w,
          room.gradient, room.gradient_stride);
  room.base = shop.scratch.floats(cutter.total());
  return room;
}

void Convolution::pack_phases(const Backward& task, float* panels) const {
  const ConvShape& s = plan_.shape;
  for (const ConvPlan::Phase& phase : plan_.phases) {
    kernels_.pack_panel(task.weights, phase.weight_rows.data(), phase.taps.size(), s.kernel_h * s.kernel_w,
                        s.in_channels, panels);
    panels += phase.taps.size() * padded_columns(s.in_channels);
  }
}

void Convolution::input_gradient(const BackwardRoom& room, const float* gradient, float* dx) const {
  const ConvShape& s = plan_.shape;
  const float* panel = room.base + room.phase_panels;
  for (const ConvPlan::Phase& phase : plan_.phases) {
    const Gather gather{phase.pixels.data(), phase.pixels.size(), phase.taps.data(), phase.taps.size()};
    const Planes out{dx, s.height * s.width, plan_.phases.size() == 1 ? nullptr : phase.positions.data(),
                     nullptr, false};
    kernels_.gather_product(gradient, gather, panel, s.in_channels, out);
    panel += phase.taps.size() * padded_columns(s.in_channels);
  }
}

/// What the weights' sums need of one sample, and its input's gradient.
void Convolution::prepare_sample(const Backward& task, const BackwardRoom& room, std::size_t sample,
                                 std::size_t slot, std::size_t worker) const {
  const ConvShape& s = plan_.shape;
  const std::size_t out_plane = s.out_plane();
  const std::size_t in_size = s.in_channels * s.height * s.width;
  const float* dy = task.dy + sample * s.out_channels * out_plane;
  const float* open = task.y == nullptr ? nullptr : task.y + sample * s.out_channels * out_plane;
  kernels_.planes_to_panel(dy, open, out_plane, out_plane, s.out_channels,
                           room.base + room.panel + slot * room.panel_stride);
  (void)padded_input(task.x + sample * in_size, room.base + room.image + slot * room.image_stride);
  if (task.dx == nullptr) return;
  float* gradient = room.base + room.gradient + worker * room.gradient_stride;
  kernels_.pad_planes({dy, open, s.out_channels, s.out_h(), s.out_w(), gradient, plan_.gradient_h,
                       plan_.gradient_w, plan_.gradient_top, plan_.gradient_left});
  input_gradient(room, gradient, task.dx + sample * in_size);
}

/// Some rows of the weights' sums, over a group of samples; the piece behind the last one is the biases'.
void Convolution::add_weight_rows(const Backward& task, const BackwardRoom& room, std::size_t first_sample,
                                  std::size_t samples, std::size_t piece) const {
  const ConvShape& s = plan_.shape;
  const std::size_t in_size = s.in_channels * s.height * s.width;
  const std::size_t first = piece * room.piece_rows;
  for (std::size_t slot = 0; slot < samples; ++slot) {
    const float* panel = room.base + room.panel + slot * room.panel_stride;
    if (piece == room.pieces) {
      kernels_.add_column_sums(panel, plan_.pixels.size(), s.out_channels, task.dbias);
      continue;
    }
    const Gather gather{plan_.pixels.data(), plan_.pixels.size(), plan_.taps.data() + first,
                        std::min(room.piece_rows, plan_.taps.size() - first)};
    const float* image = s.padded() ? room.base + room.image + slot * room.image_stride
                                    : task.x + (first_sample + slot) * in_size;
    kernels_.gather_outer(image, gather, panel, s.out_channels, room.base + room.sums + first * room.columns);
  }
}

void Convolution::write_weights(const BackwardRoom& room, float* dweights) const {
  const std::size_t out_channels = plan_.shape.out_channels;
  const std::size_t taps = plan_.taps.size();
  for (std::size_t first = 0; first < taps; first += room.piece_rows) {
    const std::size_t rows = std::min(room.piece_rows, taps - first);
    const float* piece = room.base + room.sums + first * room.columns;
    for (std::size_t o = 0; o < out_channels; ++o) {
      const std::size_t block = o / kBlock * kBlock;
      const std::size_t width = block_width(out_channels, block);
      const float* sums = piece + block * rows + o % kBlock;
      for (std::size_t q = 0; q < rows; ++q) dweights[o * taps + first + q] = sums[q * width];
    }
  }
}

void Convolution::backward(const Backward& task, const Workshop& shop) {
  if (pooled_) return pooled_backward(task, shop);
  const BackwardRoom room = cut_scratch(task, shop);
  std::fill_n(room.base + room.sums, plan_.taps.size() * room.columns, 0.0F);
  if (task.dbias != nullptr) std::fill_n(task.dbias, plan_.shape.out_channels, 0.0F);
  if (task.dx != nullptr) pack_phases(task, room.base + room.phase_panels);
  for (std::size_t first = 0; first < task.samples; first += room.group) {
    const std::size_t samples = std::min(room.group, task.samples - first);
    for_each_item(shop.workers, samples, [&](std::size_t slot, std::size_t worker) {
      prepare_sample(task, room, first + slot, slot, worker);
    });
    for_each_item(
        shop.workers, room.pieces + (task.dbias != nullptr ? 1 : 0),
        [&](std::size_t piece, std::size_t) { add_weight_rows(task, room, first, samples, piece); });
  }
  write_weights(room, task.dweights);
}

void Convolution::pooled_backward(const Backward& task, const Workshop& shop) {
  const ConvShape& s = plan_.shape;
  const std::size_t in_size = s.in_channels * s.height * s.width;
  const std::size_t workers = shop.workers.count();
  const std::size_t group = pooled_->begin(task.weights, task.dx != nullptr, task.samples, workers);
  const std::size_t stride = (padded_size() + 15) / 16 * 16;
  float* const images = shop.scratch.floats(stride * workers);
  for (std::size_t first = 0; first < task.samples; first += group) {
    const std::size_t samples = std::min(group, task.samples - first);
    for_each_item(shop.workers, samples, [&](std::size_t slot, std::size_t worker) {
      const std::size_t n = first + slot;
      pooled_->take_sample(slot, worker, padded_input(task.x + n * in_size, images + worker * stride),
                           task.dy + n * s.out_channels * s.out_plane(), task.choices + n * choice_size(),
                           task.dx == nullptr ? nullptr : task.dx + n * in_size);
    });
    for_each_item(shop.workers, pooled_->pieces(),
                  [&](std::size_t piece, std::size_t) { pooled_->add_weight_gradient(piece, samples); });
  }
  pooled_->finish(task.dweights, task.dbias);
}

}  // namespace aflguard::kernels
