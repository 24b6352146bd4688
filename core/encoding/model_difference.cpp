#include "core/encoding/model_difference.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/check.h"
#include "core/compression/compression.h"
#include "core/encoding/encoding.h"

namespace aflguard {
namespace {

constexpr std::size_t kMostPlanes = sizeof(float);
/// An exponent travels as a byte; 0 stands for steps of the bits.
constexpr int kExponentBias = 150;
constexpr double kMostSteps = 1 << 30;

std::size_t blocks_of(std::size_t count) {
  return (count + kBlock - 1) / kBlock;
}

/// Of a grid's step, a power of two; 0 when there is none that a byte could say.
int exponent_of(float step) {
  const int exponent = step > 0 ? std::ilogb(step) + kExponentBias : 0;
  return exponent > 0 && exponent < 256 ? exponent : 0;
}

/// The bits of a float as an integer in the order of the numbers, so that neighbours are near each other.
std::uint32_t ordered(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return (bits & 0x80000000) != 0 ? ~bits : bits | 0x80000000;
}

float number_of(std::uint32_t ordered) {
  return std::bit_cast<float>((ordered & 0x80000000) != 0 ? ordered & 0x7fffffff : ~ordered);
}

/// Small steps in both directions as small unsigned numbers.
std::uint32_t folded(std::uint32_t step) {
  return step << 1 ^ (0 - (step >> 31));
}

std::uint32_t unfolded(std::uint32_t folded) {
  return folded >> 1 ^ (0 - (folded & 1));
}

/// Exact for numbers on the grid, and one finite answer on every machine for others.
float moved(float number, std::int32_t steps, int exponent) {
  const double step = std::ldexp(1.0, exponent - kExponentBias);
  return static_cast<float>((static_cast<double>(number) / step + steps) * step);
}

/// False when not every number of the block is whole steps away.
bool grid_steps(std::span<const float> base, std::span<const float> model, int exponent,
                std::span<std::uint32_t> out) {
  const double step = std::ldexp(1.0, exponent - kExponentBias);
  for (std::size_t i = 0; i < base.size(); ++i) {
    const double distance = (static_cast<double>(model[i]) - base[i]) / step;
    if (!(std::abs(distance) < kMostSteps)) return false;
    const auto steps = static_cast<std::int32_t>(distance);
    if (std::bit_cast<std::uint32_t>(moved(base[i], steps, exponent)) !=
        std::bit_cast<std::uint32_t>(model[i])) {
      return false;
    }
    out[i] = folded(static_cast<std::uint32_t>(steps));
  }
  return true;
}

void bit_steps(std::span<const float> base, std::span<const float> model, std::span<std::uint32_t> out) {
  for (std::size_t i = 0; i < base.size(); ++i) out[i] = folded(ordered(model[i]) - ordered(base[i]));
}

/// Bytes that the largest step needs, at least one.
std::size_t planes_for(std::uint32_t all_steps) {
  const auto bits = static_cast<std::size_t>(std::bit_width(all_steps));
  return std::max<std::size_t>(1, (bits + 7) / 8);
}

}  // namespace

Result<ModelDifference> difference_of(std::span<const float> base, std::span<const float> model,
                                      const ModelGrid* grid) {
  check(base.size() == model.size(), "two versions of a model have the same length");
  const std::size_t count = base.size();
  const std::size_t blocks = blocks_of(count);
  std::vector<std::uint32_t> steps(count);
  Bytes content(blocks);
  std::uint32_t all = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = block * kBlock;
    const std::size_t size = std::min(kBlock, count - first);
    const std::span<std::uint32_t> to = std::span(steps).subspan(first, size);
    const int exponent = grid != nullptr ? exponent_of(grid->step(block)) : 0;
    const bool on_grid =
        exponent > 0 && grid_steps(base.subspan(first, size), model.subspan(first, size), exponent, to);
    if (!on_grid) bit_steps(base.subspan(first, size), model.subspan(first, size), to);
    content[block] = static_cast<std::byte>(on_grid ? exponent : 0);
    for (const std::uint32_t step : to) all |= step;
  }
  const std::size_t planes = planes_for(all);
  content.resize(blocks + planes * count);
  for (std::size_t plane = 0; plane < planes; ++plane) {
    std::byte* to = content.data() + blocks + plane * count;
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::byte>(steps[i] >> 8 * plane);
  }
  TRY(Bytes frame, compress(content));
  return ModelDifference{DifferenceKind::kBlocks, std::move(frame)};
}

Result<std::vector<float>> apply_difference(DifferenceKind kind, std::span<const std::byte> bytes,
                                            std::span<const float> base) {
  check(kind == DifferenceKind::kBlocks, "there is one kind");
  const std::size_t count = base.size();
  const std::size_t blocks = blocks_of(count);
  TRY(const std::size_t size, content_size(bytes));
  const std::size_t planes = size > blocks ? (size - blocks) / count : 0;
  if (planes < 1 || planes > kMostPlanes || size != blocks + planes * count) {
    return corrupt("difference would become " + std::to_string(size) +
                   " bytes, which is none of a model of " + std::to_string(count) + " numbers");
  }
  TRY(const Bytes content, decompress(bytes, size));
  std::vector<float> model(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t step = 0;
    for (std::size_t plane = 0; plane < planes; ++plane) {
      step |= std::to_integer<std::uint32_t>(content[blocks + plane * count + i]) << 8 * plane;
    }
    const int exponent = std::to_integer<int>(content[i / kBlock]);
    model[i] = exponent > 0 ? moved(base[i], static_cast<std::int32_t>(unfolded(step)), exponent)
                            : number_of(ordered(base[i]) + unfolded(step));
  }
  return model;
}

}  // namespace aflguard
