#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "models/graph/graph.h"

namespace aflguard::models {

/// How Resize stretches one axis. Every output element is a weighted sum of input elements.
struct Resampling {
  std::string mode;         ///< "nearest" or "linear"
  std::string coordinates;  ///< coordinate_transformation_mode
  std::string nearest;      ///< nearest_mode
  std::int64_t from = 1;
  std::int64_t to = 1;
  float scale = 1;  ///< as the node states it; to / from where it states the size

  friend bool operator==(const Resampling&, const Resampling&) = default;
};

/// The largest table of weights, `from` * `to`, with which an axis is resampled.
inline constexpr std::int64_t kMaxResampling = std::int64_t{1} << 20;

/// Reads the node's modes; kUnsupported, naming the setting, for those without a gradient here.
[[nodiscard]] Result<Resampling> read_resampling(const Node& node);

/// The weights [from, to] in row-major order: output = input * weights.
[[nodiscard]] std::vector<float> resampling_weights(const Resampling& axis);

/// Nearest with a whole scale, where every element is repeated `scale` times: 0 when it is anything else.
[[nodiscard]] std::int64_t whole_repeats(const Resampling& axis);

}  // namespace aflguard::models
