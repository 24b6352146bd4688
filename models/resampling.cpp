#include "models/resampling.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace aflguard::models {
namespace {

constexpr std::array kCoordinates = {"half_pixel",    "pytorch_half_pixel",   "asymmetric",
                                     "align_corners", "tf_half_pixel_for_nn", "half_pixel_symmetric"};
constexpr std::array kNearest = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};

template <typename List>
Status one_of(const char* setting, const std::string& value, const List& list) {
  std::string names;
  for (const char* name : list) {
    if (value == name) return {};
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return unsupported(std::string(setting) + " is '" + value + "'; supported are " + names);
}

/// Where element `at` of the output lies in the input; in float, as runtimes compute it.
float position_of(const Resampling& axis, std::int64_t at) {
  const auto x = static_cast<float>(at);
  const auto from = static_cast<float>(axis.from);
  const auto to = static_cast<float>(axis.to);
  if (axis.scale == 1.0F && axis.from == axis.to) return x;
  if (axis.coordinates == "asymmetric") return x / axis.scale;
  if (axis.coordinates == "align_corners") return axis.to == 1 ? 0 : x * (from - 1) / (to - 1);
  if (axis.coordinates == "tf_half_pixel_for_nn") return (x + 0.5F) / axis.scale;
  if (axis.coordinates == "pytorch_half_pixel" && axis.to == 1) return 0;
  const float half_pixel = (x + 0.5F) / axis.scale - 0.5F;
  if (axis.coordinates != "half_pixel_symmetric") return half_pixel;
  const float adjustment = to / (axis.scale * from);
  return from / 2 * (1 - adjustment) + half_pixel;
}

std::int64_t nearest_to(const Resampling& axis, float position) {
  float whole = 0;
  if (axis.nearest == "floor") {
    whole = std::floor(position);
  } else if (axis.nearest == "ceil") {
    whole = std::ceil(position);
  } else if (axis.nearest == "round_prefer_ceil") {
    whole = std::floor(position + 0.5F);
  } else {
    whole = std::ceil(position - 0.5F);
  }
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(whole), 0, axis.from - 1);
}

}  // namespace

Result<Resampling> read_resampling(const Node& node) {
  Resampling result;
  result.mode = node.string_or("mode", "nearest");
  result.coordinates = node.string_or("coordinate_transformation_mode", "half_pixel");
  result.nearest = node.string_or("nearest_mode", "round_prefer_floor");
  TRY_STATUS(one_of("mode", result.mode, std::array{"nearest", "linear"}));
  TRY_STATUS(one_of("coordinate_transformation_mode", result.coordinates, kCoordinates));
  if (result.mode == "nearest") TRY_STATUS(one_of("nearest_mode", result.nearest, kNearest));
  return result;
}

std::vector<float> resampling_weights(const Resampling& axis) {
  std::vector<float> weights(static_cast<std::size_t>(axis.from * axis.to), 0);
  const auto add = [&](std::int64_t from, std::int64_t to, float weight) {
    weights[static_cast<std::size_t>(from * axis.to + to)] += weight;
  };
  for (std::int64_t to = 0; to < axis.to; ++to) {
    const float position = position_of(axis, to);
    if (axis.mode == "nearest") {
      add(nearest_to(axis, position), to, 1);
      continue;
    }
    // Positions outside of the input see its first or last element.
    const float inside = std::clamp(position, 0.0F, static_cast<float>(axis.from - 1));
    const auto low = static_cast<std::int64_t>(inside);
    const std::int64_t high = std::min(low + 1, axis.from - 1);
    const float share = inside - static_cast<float>(low);
    add(low, to, 1 - share);
    add(high, to, share);
  }
  return weights;
}

std::int64_t whole_repeats(const Resampling& axis) {
  if (axis.mode != "nearest" || axis.to % axis.from != 0) return 0;
  const std::int64_t repeats = axis.to / axis.from;
  for (std::int64_t to = 0; to < axis.to; ++to) {
    if (nearest_to(axis, position_of(axis, to)) != to / repeats) return 0;
  }
  return repeats;
}

}  // namespace aflguard::models
