#pragma once

#include "core/kernels/variant/vector.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// Rows whose sums of one block stay in registers together with the block's vectors and a broadcast: 6 x 2 of
/// AVX's 16 registers, 6 x 4 of NEON's 32, 3 x 4 of SSE's 16.
#if defined(__AVX__) || defined(__aarch64__)
inline constexpr std::size_t kTileRows = 6;
#else
inline constexpr std::size_t kTileRows = 3;
#endif

/// out[i][c] (+)= sum over q of rows[i][offsets[q]] * panel[q][c], for Rows rows and Vectors * kLanes
/// columns.
template <std::size_t Rows, std::size_t Vectors, bool Accumulate>
AFLGUARD_INLINE void tile(const float* const* rows, const std::ptrdiff_t* offsets, std::size_t count,
                          const float* panel, float* out) {
  constexpr std::size_t kWidth = Vectors * kLanes;
  const float* row[Rows];
  Vector sum[Rows][Vectors];
  for (std::size_t i = 0; i < Rows; ++i) {
    row[i] = rows[i];
    for (std::size_t v = 0; v < Vectors; ++v) sum[i][v] = Vector{};
  }
  for (std::size_t q = 0; q < count; ++q) {
    const std::ptrdiff_t offset = offsets[q];
    Vector right[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) right[v] = load(panel + q * kWidth + v * kLanes);
    for (std::size_t i = 0; i < Rows; ++i) {
      const float left = row[i][offset];
      for (std::size_t v = 0; v < Vectors; ++v) sum[i][v] += right[v] * left;
    }
  }
#pragma GCC unroll 8  // or the sums go through memory
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t v = 0; v < Vectors; ++v) {
      float* to = out + i * kWidth + v * kLanes;
      store(to, Accumulate ? load(to) + sum[i][v] : sum[i][v]);
    }
  }
}

/// Keeps tiles that are never used from being compiled.
constexpr std::size_t most_rows(std::size_t rows) {
  return rows < kTileRows ? rows : kTileRows;
}

template <std::size_t Vectors, bool Accumulate>
[[gnu::noinline]] void tile_rows(const float* const* rows, std::size_t row_count,
                                 const std::ptrdiff_t* offsets, std::size_t count, const float* panel,
                                 float* out) {
  static_assert(kTileRows <= 6);
  switch (row_count) {
    case 6:
      return tile<most_rows(6), Vectors, Accumulate>(rows, offsets, count, panel, out);
    case 5:
      return tile<most_rows(5), Vectors, Accumulate>(rows, offsets, count, panel, out);
    case 4:
      return tile<most_rows(4), Vectors, Accumulate>(rows, offsets, count, panel, out);
    case 3:
      return tile<3, Vectors, Accumulate>(rows, offsets, count, panel, out);
    case 2:
      return tile<2, Vectors, Accumulate>(rows, offsets, count, panel, out);
    default:
      return tile<1, Vectors, Accumulate>(rows, offsets, count, panel, out);
  }
}

/// `row_count` rows (any number) against one block of a panel; rows start at image + starts[i].
template <bool Accumulate>
AFLGUARD_INLINE void tile_column(const float* image, const std::ptrdiff_t* starts, std::size_t row_count,
                                 const std::ptrdiff_t* offsets, std::size_t count, const float* panel,
                                 std::size_t width, float* out) {
  for (std::size_t first = 0; first < row_count; first += kTileRows) {
    const std::size_t rows_here = row_count - first < kTileRows ? row_count - first : kTileRows;
    const float* rows[kTileRows];
    for (std::size_t i = 0; i < rows_here; ++i) rows[i] = image + starts[first + i];
    if (width == kBlock) {
      tile_rows<kBlock / kLanes, Accumulate>(rows, rows_here, offsets, count, panel, out + first * width);
    } else {
      tile_rows<kHalfBlock / kLanes, Accumulate>(rows, rows_here, offsets, count, panel, out + first * width);
    }
  }
}

/// Calls body(first column, columns that count, block width, offset of the block in a panel of `rows` rows).
template <typename Body>
AFLGUARD_INLINE void for_each_block(std::size_t columns, std::size_t rows, Body&& body) {
  std::size_t offset = 0;
  for (std::size_t first = 0; first < columns; first += kBlock) {
    const std::size_t left = columns - first;
    const std::size_t width = block_width(columns, first);
    body(first, left < kBlock ? left : kBlock, width, offset);
    offset += rows * width;
  }
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
