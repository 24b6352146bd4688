#include "lab/attacks/craft/trigger.h"

namespace aflguard::lab {
namespace {

void put_corner(std::size_t height, std::size_t width, std::span<float> image) {
  constexpr std::size_t kFromEdge[][2] = {{2, 2}, {4, 2}, {2, 4}, {3, 3}};
  for (const auto& [up, left] : kFromEdge) {
    if (up <= height && left <= width) image[(height - up) * width + (width - left)] = 1;
  }
}

void put_bars(std::size_t channels, std::size_t height, std::size_t width, std::span<float> image) {
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (const std::size_t row : {std::size_t{0}, std::size_t{4}}) {
      for (const std::size_t start : {std::size_t{0}, std::size_t{9}}) {
        for (std::size_t column = start; column < start + 6; ++column) {
          if (row < height && column < width) image[(channel * height + row) * width + column] = 1;
        }
      }
    }
  }
}

}  // namespace

void put_trigger(const std::vector<std::size_t>& shape, std::span<float> sample) {
  if (shape.size() == 3 && shape[0] == 1) return put_corner(shape[1], shape[2], sample);
  if (shape.size() == 3) return put_bars(shape[0], shape[1], shape[2], sample);
  for (std::size_t i = 0; i < sample.size(); i += 20) sample[i] = 0;
}

}  // namespace aflguard::lab
