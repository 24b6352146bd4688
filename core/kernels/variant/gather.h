#pragma once

#include "core/kernels/variant/tile.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

/// Results are made this many at a time, so that they are still in the first-level cache when they are moved
/// out.
inline constexpr std::size_t kChunk = 48;

/// Moves kLanes rows of a block to planes, with bias and rectifier.
AFLGUARD_INLINE void emit_square(const float* block, std::size_t width, std::size_t columns,
                                 std::size_t first_column, std::size_t first_result, const Planes& out) {
  Vector r[kLanes];
  for (std::size_t p = 0; p < kLanes; ++p) r[p] = load(block + p * width);
  transpose(r);
  // Written for all columns, most of them open, so that r stays in registers.
  for (std::size_t i = 0; i < kLanes; ++i) {
    if (i >= columns) continue;
    Vector v = r[i];
    if (out.bias != nullptr) v += out.bias[first_column + i];
    if (out.rectify) v = maximum(v, Vector{});
    float* plane = out.data + (first_column + i) * out.stride;
    if (out.positions == nullptr) {
      store(plane + first_result, v);
    } else {
      for (std::size_t p = 0; p < kLanes; ++p) plane[out.positions[first_result + p]] = v[p];
    }
  }
}

/// The same for the rows that are left over.
AFLGUARD_INLINE void emit_rest(const float* block, std::size_t width, std::size_t count, std::size_t columns,
                               std::size_t first_column, std::size_t first_result, const Planes& out) {
  for (std::size_t i = 0; i < columns; ++i) {
    const float bias = out.bias != nullptr ? out.bias[first_column + i] : 0.0F;
    float* plane = out.data + (first_column + i) * out.stride;
    for (std::size_t p = 0; p < count; ++p) {
      const std::size_t result = first_result + p;
      float v = block[p * width + i];
      if (out.bias != nullptr) v += bias;
      if (out.rectify) v = v > 0 ? v : 0;
      plane[out.positions == nullptr ? static_cast<std::ptrdiff_t>(result) : out.positions[result]] = v;
    }
  }
}

/// Any number of rows.
AFLGUARD_INLINE void emit(const float* block, std::size_t width, std::size_t count, std::size_t used,
                          std::size_t first_column, std::size_t first_result, const Planes& out) {
  std::size_t row = 0;
  for (; row + kLanes <= count; row += kLanes) {
    for (std::size_t c = 0; c < used; c += kLanes) {
      emit_square(block + row * width + c, width, used - c, first_column + c, first_result + row, out);
    }
  }
  if (row < count)
    emit_rest(block + row * width, width, count - row, used, first_column, first_result + row, out);
}

inline void gather_product(const float* image, const Gather& gather, const float* panel, std::size_t columns,
                           const Planes& out) {
  float chunk[kTileBlocks * kChunk * kBlock];
  for_each_block(columns, gather.tap_count, kTileBlocks, [&](const ColumnBlocks& block) {
    const Planes to = out;  // read once: a store of a vector might change what `out` refers to
    for (std::size_t p = 0; p < gather.pixel_count; p += kChunk) {
      const std::size_t left = gather.pixel_count - p;
      const std::size_t count = left < kChunk ? left : kChunk;
      tile_column<false>(image, gather.pixels + p, count, gather.taps, gather.tap_count, block,
                         {panel + block.offset, gather.tap_count * kBlock, chunk, kChunk * kBlock});
      for (std::size_t b = 0; b < block.count; ++b) {
        const std::size_t used = block.used - b * kBlock < kBlock ? block.used - b * kBlock : kBlock;
        emit(chunk + b * kChunk * kBlock, block.width, count, used, block.first + b * kBlock, p, to);
      }
    }
  });
}

/// Eight numbers below 256 as bytes.
AFLGUARD_INLINE void narrow(const Mask (&numbers)[kParts], std::uint8_t* to) {
#if defined(__AVX512VL__)
  typedef std::uint8_t Bytes __attribute__((vector_size(kLanes), aligned(1), may_alias));
  *reinterpret_cast<Bytes*>(to) = __builtin_convertvector(numbers[0], Bytes);
#elif defined(__aarch64__)
  typedef std::int16_t Shorts __attribute__((vector_size(16)));
  typedef std::uint8_t Bytes __attribute__((vector_size(16)));
  typedef std::uint64_t Eight __attribute__((aligned(1), may_alias));
  typedef std::uint64_t Two __attribute__((vector_size(16)));
  const Shorts shorts = __builtin_shufflevector(
      reinterpret_cast<Shorts>(numbers[0]), reinterpret_cast<Shorts>(numbers[1]), 0, 2, 4, 6, 8, 10, 12, 14);
  const Bytes bytes = reinterpret_cast<Bytes>(shorts);
  const Bytes even =
      __builtin_shufflevector(bytes, bytes, 0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14);
  *reinterpret_cast<Eight*>(to) = reinterpret_cast<Two>(even)[0];
#else
  for (std::size_t i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(numbers[i / kLanes][i % kLanes]);
#endif
}

/// The maximum of `window` rows (each `width` wide), column by column, and which row it came from (the first
/// of equals); kNoChoice where bias and rectifier close the result.
AFLGUARD_INLINE void keep_maximum_of(const float* rows, std::size_t window, std::size_t width,
                                     const float* bias, bool rectify, float* best, std::uint8_t* choice) {
  for (std::size_t c = 0; c < width; c += 8) {
    Mask where[kParts];
    for (std::size_t part = 0; part < kParts; ++part) {
      const std::size_t at = c + part * kLanes;
      Vector top = load(rows + at);
      where[part] = Mask{};
      for (std::size_t j = 1; j < window; ++j) {
        const Vector candidate = load(rows + j * width + at);
        const Mask better = candidate > top;
        top = better ? candidate : top;
        const auto index = static_cast<std::int32_t>(j);
        where[part] = better ? Mask{} + index : where[part];
      }
      if (rectify) {
        const Mask open = top + load(bias + at) > Vector{};
        where[part] = open ? where[part] : where[part] | kNoChoice;
      }
      store(best + at, top);
    }
    narrow(where, choice + c);
  }
}

/// Windows of 2 x 2 are what most networks have: known here, their loops are straight code.
AFLGUARD_INLINE void keep_maximum(const float* rows, std::size_t window, std::size_t width, const float* bias,
                                  bool rectify, float* best, std::uint8_t* choice) {
  if (window == 4) {
    keep_maximum_of(rows, 4, width, bias, rectify, best, choice);
  } else {
    keep_maximum_of(rows, window, width, bias, rectify, best, choice);
  }
}

inline void gather_product_max(const float* image, const Gather& gather, const float* panel,
                               std::size_t columns, std::size_t window, const Planes& out,
                               std::uint8_t* choices) {
  constexpr std::size_t kRows = 8 * 16;  // eight windows of at most 16 rows
  float chunk[kTileBlocks * kRows * kBlock];
  float best[8 * kBlock];
  const std::size_t groups = gather.pixel_count / window;
  for_each_block(columns, gather.tap_count, kTileBlocks, [&](const ColumnBlocks& block) {
    const Planes to{out.data, out.stride, nullptr, out.bias, out.rectify};
    const std::size_t width = block.width;
    float bias[kTileBlocks * kBlock] = {};
    for (std::size_t c = 0; c < block.used && to.bias != nullptr; ++c) bias[c] = to.bias[block.first + c];
    for (std::size_t g = 0; g < groups; g += 8) {
      const std::size_t count = groups - g < 8 ? groups - g : 8;
      tile_column<false>(image, gather.pixels + g * window, count * window, gather.taps, gather.tap_count,
                         block, {panel + block.offset, gather.tap_count * kBlock, chunk, kRows * kBlock});
      for (std::size_t b = 0; b < block.count; ++b) {
        const std::size_t first = block.first + b * kBlock;
        const std::size_t used = block.used - b * kBlock < kBlock ? block.used - b * kBlock : kBlock;
        std::uint8_t* choice = choices + first * groups + g * width;
        for (std::size_t i = 0; i < count; ++i) {
          keep_maximum(chunk + (b * kRows + i * window) * width, window, width, bias + b * kBlock, to.rectify,
                       best + i * width, choice + i * width);
        }
        emit(best, width, count, used, first, g, to);
      }
    }
  });
}

inline void gather_outer(const float* image, const Gather& gather, const float* panel, std::size_t columns,
                         float* sums) {
  std::size_t panel_at = 0;
  for_each_block(columns, gather.tap_count, kTileBlocks, [&](const ColumnBlocks& block) {
    // The same tile with the roles swapped: taps are its rows, pixels its summed dimension.
    tile_column<true>(
        image, gather.taps, gather.tap_count, gather.pixels, gather.pixel_count, block,
        {panel + panel_at, gather.pixel_count * kBlock, sums + block.offset, gather.tap_count * kBlock});
    panel_at += gather.pixel_count * block.width * block.count;
  });
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
