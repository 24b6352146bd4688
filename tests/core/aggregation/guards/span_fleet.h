#pragma once

#include <vector>

#include "core/base/random.h"
#include "tests/core/aggregation/guards/guards.h"

namespace aflguard::testing {

inline constexpr double kRate = 0.01;

inline AggregatorOptions with_rate() {
  AggregatorOptions options;
  options.learning_rate = kRate;
  return options;
}

/// A fleet whose honest updates are mixtures of class updates, plus a part that each client has for itself.
struct Fleet {
  Fleet(std::size_t dimension, std::size_t classes, std::uint64_t seed)
      : random(seed), classes_(classes, std::vector<float>(dimension)) {
    for (auto& row : classes_) {
      for (float& v : row) v = static_cast<float>(3 * random.normal());
    }
  }

  [[nodiscard]] ReferenceUpdate reference() const {
    ReferenceUpdate out;
    out.per_class = RowBundle(classes_.size(), classes_[0].size());
    out.vector.assign(classes_[0].size(), 0);
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      out.per_class.set_row(c, classes_[c]);
      for (std::size_t i = 0; i < out.vector.size(); ++i) out.vector[i] += classes_[c][i];
    }
    out.derive();
    return out;
  }

  /// The class updates move a little, as after some steps of the model.
  void drift() {
    for (auto& row : classes_) {
      for (float& v : row) v += static_cast<float>(0.2 * random.normal());
    }
  }

  std::vector<float> honest() {
    std::vector<float> g(classes_[0].size());
    for (const auto& row : classes_) {
      const auto weight = static_cast<float>(random.uniform(0, 0.4));
      for (std::size_t i = 0; i < g.size(); ++i) g[i] += weight * row[i];
    }
    for (std::size_t i = 0; i < g.size(); ++i) g[i] += static_cast<float>(random.normal());
    return g;
  }

  Random random;
  std::vector<std::vector<float>> classes_;
};

inline std::vector<float> parameters(const Aggregator& of) {
  return {of.model().parameters().begin(), of.model().parameters().end()};
}

inline std::vector<float> times(std::vector<float> g, float factor) {
  for (float& v : g) v *= factor;
  return g;
}

}  // namespace aflguard::testing
