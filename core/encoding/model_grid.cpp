#include "core/encoding/model_grid.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/encoding/encoding.h"

namespace aflguard {
namespace {

/// Steps that a float counts exactly, with one bit to spare.
constexpr float kMostSteps = 8'388'608;
/// Added and taken away again, it rounds a smaller number to the nearest whole one, ties to even.
constexpr float kRounder = 12'582'912;

/// The largest power of two that is at most `size`; 0 where that would be no normal float.
float power_below(double size) {
  if (!(size > 1e-35)) return 0;
  int exponent = 0;
  (void)std::frexp(size, &exponent);
  return static_cast<float>(std::ldexp(1.0, exponent - 1));
}

}  // namespace

ModelGrid::ModelGrid(std::span<const float> older, std::span<const float> newer, std::uint64_t updates) {
  check(older.size() == newer.size() && updates > 0, "two versions of one model");
  for (std::size_t first = 0; first < newer.size(); first += kBlock) {
    const std::size_t end = std::min(newer.size(), first + kBlock);
    double moved = 0;
    for (std::size_t i = first; i < end; ++i) {
      const double movement = static_cast<double>(newer[i]) - older[i];
      moved += movement * movement;
    }
    const double of_one = std::sqrt(moved / static_cast<double>(end - first) / static_cast<double>(updates));
    steps_.push_back(power_below(of_one / kStepsPerUpdate));
  }
  // What stood still may move next: the finest of the others' steps.
  float finest = 0;
  for (const float step : steps_) finest = step > 0 && (finest == 0 || step < finest) ? step : finest;
  std::replace(steps_.begin(), steps_.end(), 0.0F, finest);
}

std::vector<float> ModelGrid::rounded(std::span<const float> model) const {
  check((model.size() + kBlock - 1) / kBlock == steps_.size(), "a model of the grid's length");
  std::vector<float> out(model.begin(), model.end());
  for (std::size_t first = 0; first < out.size(); first += kBlock) {
    const float step = steps_[first / kBlock];
    if (step == 0) continue;
    const std::size_t end = std::min(out.size(), first + kBlock);
    for (std::size_t i = first; i < end; ++i) {
      const float steps = out[i] / step;
      const float whole = ((steps + kRounder) - kRounder) * step;
      out[i] = std::abs(steps) < kMostSteps / 2 ? whole : out[i];
    }
  }
  return out;
}

}  // namespace aflguard
