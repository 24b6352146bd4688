#pragma once

#include <cstddef>
#include <cstdint>

namespace aflguard::kernels {

/// Columns are processed in blocks of this many floats (the last one may be kHalfBlock wide).
inline constexpr std::size_t kBlock = 16;
inline constexpr std::size_t kHalfBlock = 8;
/// In a pooling choice: the rectifier closed this output, no input gets its gradient.
inline constexpr std::uint8_t kNoChoice = 255;

/// Floats per row of the panel that holds `columns` columns: whole blocks, the last one halved where that
/// suffices.
[[nodiscard]] constexpr std::size_t padded_columns(std::size_t columns) {
  const std::size_t rest = columns % kBlock;
  return columns - rest + (rest == 0 ? 0 : rest <= kHalfBlock ? kHalfBlock : kBlock);
}

/// Width of the block that starts at column `first`.
[[nodiscard]] constexpr std::size_t block_width(std::size_t columns, std::size_t first) {
  return columns - first <= kHalfBlock ? kHalfBlock : kBlock;
}

/// A product that gathers its left operand straight from an image, so that no im2col copy is made:
///   result[p][c] = sum over q of image[pixels[p] + taps[q]] * panel[q][c]
struct Gather {
  const std::ptrdiff_t* pixels;
  std::size_t pixel_count;
  const std::ptrdiff_t* taps;
  std::size_t tap_count;
};

/// Planes that get margins of zeros: plane c of `to` is [padded_h][padded_w], with plane c of `from` at (top,
/// left).
struct PadPlanes {
  const float* from;
  const float* open;  ///< what is not positive here is zero there; null: everything is taken
  std::size_t channels, height, width;
  float* to;
  std::size_t padded_h, padded_w, top, left;
};

/// Where the columns of a gathered product go.
struct Planes {
  float* data;  ///< plane c starts at data + c * stride
  std::size_t stride;
  const std::ptrdiff_t* positions;  ///< of result p inside a plane; null: p itself
  const float* bias;                ///< added to column c; may be null
  bool rectify;                     ///< max(0, .) after the bias
};

/// One term of a sparse sum.
struct WeightedRow {
  std::uint32_t row;
  float weight;
};
/// Vectors that one sparse sum covers at most.
inline constexpr std::size_t kMaxSegment = 6;

/// to[s][j] += sum over entries of weight * rows[s][row * stride + j], for each side s and 8 * vectors
/// columns j. The destinations must not overlap.
struct WeightedRows {
  std::size_t sides;  ///< 1 or 2
  const float* rows[2];
  std::size_t stride;
  const WeightedRow* entries;
  std::size_t count;
  std::size_t vectors;  ///< 1 to kMaxSegment
  float* to[2];
};

/// Per-channel batch normalisation of a [samples][channels][plane] tensor, with what usually follows it.
struct BatchNormForward {
  std::size_t samples, channels, plane;
  std::size_t first_channel, end_channel;  ///< the channels to work on
  const float* x;
  const float* scale;
  const float* bias;
  const float* residual;  ///< added after normalisation; may be null
  bool rectify;
  float epsilon;
  float* y;
  float* mean;         ///< [channels]
  float* inverse_std;  ///< [channels]
};

struct BatchNormBackward {
  std::size_t samples, channels, plane;
  std::size_t first_channel, end_channel;
  const float* dy;
  const float* x;
  const float* y;  ///< the forward result, for the rectifier's mask; null without rectifier
  const float* scale;
  const float* mean;
  const float* inverse_std;
  float* dx;
  float* dscale;
  float* dbias;
  float* dresidual;  ///< dy behind the rectifier; may be null
};

/// How many multiply-adds were made, and a number that depends on all of them.
struct Peak {
  std::size_t multiply_adds;
  float number;
};

/// The same functions, compiled for one instruction set. Panels are blocked: block after block, each
/// [rows][block width], zero-filled beyond the last column.
struct KernelTable {
  const char* name;

  /// panel[q][c] = source[rows[q] + c * column_stride]
  void (*pack_panel)(const float* source, const std::ptrdiff_t* rows, std::size_t row_count,
                     std::size_t column_stride, std::size_t columns, float* panel);
  void (*pad_planes)(const PadPlanes&);
  /// panel[p][c] = planes[c * stride + p], zero where `open` (laid out alike, may be null) is not positive
  void (*planes_to_panel)(const float* planes, const float* open, std::size_t stride, std::size_t rows,
                          std::size_t columns, float* panel);
  /// planes[c * stride + p] = panel[p][c]
  void (*panel_to_planes)(const float* panel, std::size_t rows, std::size_t columns, float* planes,
                          std::size_t stride);
  /// sums[c] += sum over rows of panel[row][c]
  void (*add_column_sums)(const float* panel, std::size_t rows, std::size_t columns, float* sums);

  void (*gather_product)(const float* image, const Gather& gather, const float* panel, std::size_t columns,
                         const Planes& out);
  /// Pixels come in groups of `window`; each group's maximum is kept (its index in `choices`, blocked like a
  /// panel). `out.positions` must be null.
  void (*gather_product_max)(const float* image, const Gather& gather, const float* panel,
                             std::size_t columns, std::size_t window, const Planes& out,
                             std::uint8_t* choices);
  /// sums[q][c] += sum over p of image[pixels[p] + taps[q]] * panel[p][c]; sums blocked like a panel with tap
  /// rows.
  void (*gather_outer)(const float* image, const Gather& gather, const float* panel, std::size_t columns,
                       float* sums);
  void (*add_weighted_rows)(const WeightedRows&);

  void (*batch_norm_forward)(const BatchNormForward&);
  void (*batch_norm_backward)(const BatchNormBackward&);

  /// For benchmarks. A factor below 1 keeps the numbers finite.
  Peak (*peak)(std::size_t rounds, float factor);
};

/// The variant for chosen_instruction_set(): the fastest that this machine can run, unless AFLGUARD_KERNELS
/// says otherwise.
[[nodiscard]] const KernelTable& best_kernels();

/// Every variant compiled in that this machine can run, the most portable one first. For tests.
struct KernelTables {
  const KernelTable* tables[4];
  std::size_t count;
};
[[nodiscard]] KernelTables runnable_kernels();

}  // namespace aflguard::kernels
