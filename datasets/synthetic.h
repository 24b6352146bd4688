#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/base/random.h"
#include "core/base/result.h"
#include "core/learning/data/dataset.h"

namespace aflguard::datasets {

/// The paper's linear regression: y = <u, theta*> + e with every entry of u and e from N(0, 1) and every
/// entry of theta* from N(0, 25), which is a standard deviation of 5.
struct SyntheticSettings {
  std::size_t dimension = 100;
  std::size_t train = 8000;
  std::size_t test = 2000;
  double model_deviation = 5;
  double noise_deviation = 1;
};

struct SyntheticData {
  std::vector<float> true_model;  ///< theta*, for the model estimation error
  DatasetSplit split;
};

/// The same data for the same seed. Seed streams (core/base/random.h): 0 theta*, 1 training, 2 test; a
/// trusted set of the same distribution is draw_synthetic() with another stream.
[[nodiscard]] SyntheticData generate_synthetic(std::uint64_t seed, const SyntheticSettings& settings = {});

/// `count` fresh samples of the distribution that has this true model.
[[nodiscard]] Dataset draw_synthetic(std::span<const float> true_model, std::size_t count, Random& random,
                                     double noise_deviation = 1);

/// Writes {train,test}-{features,values}.npy and true-model.npy.
[[nodiscard]] Status write_synthetic(const SyntheticData& data, const std::filesystem::path& folder);

}  // namespace aflguard::datasets
