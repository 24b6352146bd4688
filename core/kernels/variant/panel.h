#pragma once

#include "core/kernels/variant/tile.h"

namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT {

inline void pack_panel(const float* source, const std::ptrdiff_t* rows, std::size_t row_count,
                       std::size_t column_stride, std::size_t columns, float* panel) {
  for_each_block(columns, row_count, 1, [&](const ColumnBlocks& block) {
    const auto [first, used, width, blocks, at] = block;
    for (std::size_t q = 0; q < row_count; ++q) {
      float* to = panel + at + q * width;
      const float* from = source + rows[q] + first * column_stride;
      for (std::size_t c = 0; c < width; ++c) to[c] = c < used ? from[c * column_stride] : 0.0F;
    }
  });
}

AFLGUARD_INLINE Vector opened(Vector values, const float* open) {
  return open == nullptr ? values : load(open) > Vector{} ? values : Vector{};
}
AFLGUARD_INLINE float opened(float value, const float* open) {
  return open == nullptr || *open > 0 ? value : 0.0F;
}
AFLGUARD_INLINE const float* moved(const float* open, std::size_t by) {
  return open == nullptr ? nullptr : open + by;
}

/// Written without memset and memcpy: rows are short.
AFLGUARD_INLINE void fill_zero(float* to, std::size_t count) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(to + i, Vector{});
  for (; i < count; ++i) to[i] = 0;
}

inline void pad_planes(const PadPlanes& task) {
  const std::size_t gap = task.padded_w - task.width;
  const std::size_t below = task.padded_h - task.top - task.height;
  float* to = task.to;
  for (std::size_t c = 0; c < task.channels; ++c) {
    fill_zero(to, task.top * task.padded_w + task.left);
    to += task.top * task.padded_w + task.left;
    for (std::size_t y = 0; y < task.height; ++y) {
      const std::size_t at = (c * task.height + y) * task.width;
      const float* from = task.from + at;
      const float* open = moved(task.open, at);
      std::size_t x = 0;
      for (; x + kLanes <= task.width; x += kLanes) store(to + x, opened(load(from + x), moved(open, x)));
      for (; x < task.width; ++x) to[x] = opened(from[x], moved(open, x));
      to += task.width;
      // The last row's gap ends with the plane.
      const std::size_t zeros = y + 1 < task.height ? gap : gap - task.left + below * task.padded_w;
      fill_zero(to, zeros);
      to += zeros;
    }
  }
}

/// As many rows and columns as a register has lanes: the part that is worth vectorising. Rows become columns.
AFLGUARD_INLINE void turn_square(const float* from, const float* open, std::size_t from_stride, float* to,
                                 std::size_t to_stride) {
  Vector r[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    r[i] = opened(load(from + i * from_stride), moved(open, i * from_stride));
  }
  transpose(r);
  for (std::size_t i = 0; i < kLanes; ++i) store(to + i * to_stride, r[i]);
}

inline void planes_to_panel(const float* planes, const float* open, std::size_t stride, std::size_t rows,
                            std::size_t columns, float* panel) {
  for_each_block(columns, rows, 1, [&](const ColumnBlocks& block) {
    const std::size_t width = block.width;
    for (std::size_t c = 0; c < width; c += kLanes) {
      float* to = panel + block.offset + c;
      const float* from = planes + (block.first + c) * stride;
      const float* from_open = moved(open, (block.first + c) * stride);
      std::size_t p = 0;
      if (c + kLanes <= block.used) {
        for (; p + kLanes <= rows; p += kLanes) {
          turn_square(from + p, moved(from_open, p), stride, to + p * width, width);
        }
      }
      for (; p < rows; ++p) {
        for (std::size_t i = 0; i < kLanes; ++i) {
          to[p * width + i] =
              c + i < block.used ? opened(from[i * stride + p], moved(from_open, i * stride + p)) : 0.0F;
        }
      }
    }
  });
}

inline void add_column_sums(const float* panel, std::size_t rows, std::size_t columns, float* sums) {
  for_each_block(columns, rows, 1, [&](const ColumnBlocks& block) {
    const auto [first, used, width, blocks, at] = block;
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
    const auto [first, used, width, blocks, at] = block;
    for (std::size_t c = 0; c < used; c += kLanes) {
      const float* from = panel + at + c;
      float* to = planes + (first + c) * stride;
      std::size_t p = 0;
      if (c + kLanes <= used) {
        for (; p + kLanes <= rows; p += kLanes) turn_square(from + p * width, nullptr, width, to + p, stride);
      }
      for (; p < rows; ++p) {
        for (std::size_t i = 0; i < kLanes && c + i < used; ++i) to[i * stride + p] = from[p * width + i];
      }
    }
  });
}

}  // namespace aflguard::kernels::AFLGUARD_KERNEL_VARIANT
