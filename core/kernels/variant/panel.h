#pragma once

#include "core/kernels/variant/tile.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

inline void pack_panel(const float* source, const std::ptrdiff_t* rows, std::size_t row_count,
                       std::size_t column_stride, std::size_t columns, float* panel) {
  for_each_block(columns, row_count, 1, [&](const ColumnBlocks& block) {
    const auto [first, used, width, count, at] = block;
    for (std::size_t q = 0; q < row_count; ++q) {
      float* to = panel + at + q * width;
      const float* from = source + rows[q] + first * column_stride;
      for (std::size_t c = 0; c < width; ++c) to[c] = c < used ? from[c * column_stride] : 0.0F;
    }
  });
}

/// As many rows and columns as a register has lanes: the part that is worth vectorising. Rows become columns.
AFLGUARD_INLINE void turn_square(const float* from, std::size_t from_stride, float* to,
                                 std::size_t to_stride) {
  Vector r[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) r[i] = load(from + i * from_stride);
  transpose(r);
  for (std::size_t i = 0; i < kLanes; ++i) store(to + i * to_stride, r[i]);
}

inline void planes_to_panel(const float* planes, std::size_t stride, std::size_t rows, std::size_t columns,
                            float* panel) {
  for_each_block(columns, rows, 1, [&](const ColumnBlocks& block) {
    const auto [first, used, width, count, at] = block;
    for (std::size_t c = 0; c < width; c += kLanes) {
      float* to = panel + at + c;
      const float* from = planes + (first + c) * stride;
      std::size_t p = 0;
      if (c + kLanes <= used) {
        for (; p + kLanes <= rows; p += kLanes) turn_square(from + p, stride, to + p * width, width);
      }
      for (; p < rows; ++p) {
        for (std::size_t i = 0; i < kLanes; ++i)
          to[p * width + i] = c + i < used ? from[i * stride + p] : 0.0F;
      }
    }
  });
}

inline void add_column_sums(const float* panel, std::size_t rows, std::size_t columns, float* sums) {
  for_each_block(columns, rows, 1, [&](const ColumnBlocks& block) {
    const auto [first, used, width, count, at] = block;
    for (std::size_t c = 0; c < width; c += kLanes) {
      Vector sum[4] = {};
      std::size_t p = 0;
      for (; p + 4 <= rows; p += 4) {
        for (std::size_t i = 0; i < 4; ++i) sum[i] += load(panel + at + (p + i) * width + c);
      }
      for (; p < rows; ++p) sum[0] += load(panel + at + p * width + c);
      const Vector total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
      float* to = sums + first + c;
      if (c + kLanes <= used) {
        store(to, load(to) + total);
      } else {
        for (std::size_t i = 0; i < kLanes && c + i < used; ++i) to[i] += total[i];
      }
    }
  });
}

inline void panel_to_planes(const float* panel, std::size_t rows, std::size_t columns, float* planes,
                            std::size_t stride) {
  for_each_block(columns, rows, 1, [&](const ColumnBlocks& block) {
    const auto [first, used, width, count, at] = block;
    for (std::size_t c = 0; c < used; c += kLanes) {
      const float* from = panel + at + c;
      float* to = planes + (first + c) * stride;
      std::size_t p = 0;
      if (c + kLanes <= used) {
        for (; p + kLanes <= rows; p += kLanes) turn_square(from + p * width, width, to + p, stride);
      }
      for (; p < rows; ++p) {
        for (std::size_t i = 0; i < kLanes && c + i < used; ++i) to[i * stride + p] = from[p * width + i];
      }
    }
  });
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
