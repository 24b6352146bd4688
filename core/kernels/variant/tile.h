#pragma once

#include "core/kernels/variant/vector.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// Rows whose sums stay in registers together with the blocks' vectors and a broadcast: 8 x 2 of AVX-512's 32
/// registers, 6 x 2 of AVX's 16, 6 x 4 of NEON's 32, 3 x 4 of SSE's 16.
#if defined(__AVX512F__)
inline constexpr std::size_t kTileRows = 8;
#elif defined(__AVX__) || defined(__aarch64__)
inline constexpr std::size_t kTileRows = 6;
#else
inline constexpr std::size_t kTileRows = 3;
#endif

/// Blocks of columns side by side in one tile: what is gathered is then gathered half as often.
#if defined(__AVX512F__)
inline constexpr std::size_t kTileBlocks = 2;
#else
inline constexpr std::size_t kTileBlocks = 1;
#endif

/// What one register holds of a block of Width columns.
template <std::size_t Width>
struct TileLanes {
  typedef Vector Type;
};
template <>
struct TileLanes<kBlock> {
  typedef Wide Type;
};

/// One or more blocks of a panel, and where their results go.
struct TileBlocks {
  const float* panel;
  std::size_t panel_stride;  ///< from block to block
  float* out;
  std::size_t out_stride;
};

/// out[i][c] (+)= sum over q of rows[i][offsets[q]] * panel[q][c], for Rows rows and Blocks blocks of Width
/// columns, of which the first Used are calculated and the others are zero.
template <std::size_t Rows, std::size_t Width, std::size_t Used, std::size_t Blocks, bool Accumulate>
AFLGUARD_INLINE void tile(const float* const* rows, const std::ptrdiff_t* offsets, std::size_t count,
                          const TileBlocks& blocks) {
  using Lanes = typename TileLanes<Width>::Type;
  constexpr std::size_t kWide = sizeof(Lanes) / sizeof(float);
  constexpr std::size_t kVectors = Used / kWide;
  const float* row[Rows];
  Lanes sum[Rows][Blocks][kVectors];
  for (std::size_t i = 0; i < Rows; ++i) {
    row[i] = rows[i];
    for (std::size_t b = 0; b < Blocks; ++b) {
      for (std::size_t v = 0; v < kVectors; ++v) sum[i][b][v] = Lanes{};
    }
  }
  for (std::size_t q = 0; q < count; ++q) {
    const std::ptrdiff_t offset = offsets[q];
    Lanes right[Blocks][kVectors];
    for (std::size_t b = 0; b < Blocks; ++b) {
      const float* from = blocks.panel + b * blocks.panel_stride + q * Width;
      for (std::size_t v = 0; v < kVectors; ++v)
        right[b][v] = *reinterpret_cast<const Lanes*>(from + v * kWide);
    }
    for (std::size_t i = 0; i < Rows; ++i) {
      const float left = row[i][offset];
      for (std::size_t b = 0; b < Blocks; ++b) {
        for (std::size_t v = 0; v < kVectors; ++v) sum[i][b][v] += right[b][v] * left;
      }
    }
  }
#pragma GCC unroll 8  // or the sums go through memory
  for (std::size_t i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
    for (std::size_t b = 0; b < Blocks; ++b) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        Lanes* to = reinterpret_cast<Lanes*>(blocks.out + b * blocks.out_stride + i * Width + v * kWide);
        *to = Accumulate ? *to + sum[i][b][v] : sum[i][b][v];
      }
      for (std::size_t v = kVectors; v < Width / kWide && !Accumulate; ++v) {
        *reinterpret_cast<Lanes*>(blocks.out + b * blocks.out_stride + i * Width + v * kWide) = Lanes{};
      }
    }
  }
}

/// Keeps tiles that are never used from being compiled.
constexpr std::size_t most_rows(std::size_t rows) {
  return rows < kTileRows ? rows : kTileRows;
}

template <std::size_t Width, std::size_t Used, std::size_t Blocks, bool Accumulate>
[[gnu::noinline]] void tile_rows(const float* const* rows, std::size_t row_count,
                                 const std::ptrdiff_t* offsets, std::size_t count, const TileBlocks& blocks) {
  static_assert(kTileRows <= 8);
  switch (row_count) {
    case 8:
      return tile<most_rows(8), Width, Used, Blocks, Accumulate>(rows, offsets, count, blocks);
    case 7:
      return tile<most_rows(7), Width, Used, Blocks, Accumulate>(rows, offsets, count, blocks);
    case 6:
      return tile<most_rows(6), Width, Used, Blocks, Accumulate>(rows, offsets, count, blocks);
    case 5:
      return tile<most_rows(5), Width, Used, Blocks, Accumulate>(rows, offsets, count, blocks);
    case 4:
      return tile<most_rows(4), Width, Used, Blocks, Accumulate>(rows, offsets, count, blocks);
    case 3:
      return tile<3, Width, Used, Blocks, Accumulate>(rows, offsets, count, blocks);
    case 2:
      return tile<2, Width, Used, Blocks, Accumulate>(rows, offsets, count, blocks);
    default:
      return tile<1, Width, Used, Blocks, Accumulate>(rows, offsets, count, blocks);
  }
}

/// Some blocks of the columns of a panel.
struct ColumnBlocks {
  std::size_t first;   ///< column
  std::size_t used;    ///< columns that count
  std::size_t width;   ///< of each block
  std::size_t count;   ///< 1, or kTileBlocks whole ones
  std::size_t offset;  ///< of the first block in a panel of `rows` rows, for for_each_block's `rows`
};

/// `row_count` rows (any number) against some columns of a panel; rows start at image + starts[i].
template <bool Accumulate>
AFLGUARD_INLINE void tile_column(const float* image, const std::ptrdiff_t* starts, std::size_t row_count,
                                 const std::ptrdiff_t* offsets, std::size_t count,
                                 const ColumnBlocks& columns, const TileBlocks& blocks) {
  for (std::size_t first = 0; first < row_count; first += kTileRows) {
    const std::size_t rows_here = row_count - first < kTileRows ? row_count - first : kTileRows;
    const float* rows[kTileRows];
    for (std::size_t i = 0; i < rows_here; ++i) rows[i] = image + starts[first + i];
    const TileBlocks here{blocks.panel, blocks.panel_stride, blocks.out + first * columns.width,
                          blocks.out_stride};
    if (columns.width == kHalfBlock && columns.used <= kLanes) {
      tile_rows<kHalfBlock, kLanes, 1, Accumulate>(rows, rows_here, offsets, count, here);
    } else if (columns.width == kHalfBlock) {
      tile_rows<kHalfBlock, kHalfBlock, 1, Accumulate>(rows, rows_here, offsets, count, here);
    } else if (columns.count == 1) {
      tile_rows<kBlock, kBlock, 1, Accumulate>(rows, rows_here, offsets, count, here);
    } else {
      tile_rows<kBlock, kBlock, kTileBlocks, Accumulate>(rows, rows_here, offsets, count, here);
    }
  }
}

/// Calls body(ColumnBlocks) for one block after the other; with most = kTileBlocks, for so many whole ones at
/// once.
template <typename Body>
AFLGUARD_INLINE void for_each_block(std::size_t columns, std::size_t rows, std::size_t most, Body&& body) {
  std::size_t offset = 0;
  for (std::size_t first = 0; first < columns;) {
    const std::size_t left = columns - first;
    const std::size_t width = block_width(columns, first);
    const std::size_t count = most > 1 && left >= most * kBlock ? most : 1;
    body(ColumnBlocks{first, left < count * kBlock ? left : count * kBlock, width, count, offset});
    offset += rows * width * count;
    first += count * kBlock;
  }
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
