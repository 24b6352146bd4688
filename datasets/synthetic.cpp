#include "datasets/synthetic.h"

#include <string>

#include "core/learning/data/npy.h"

namespace aflguard::datasets {
namespace {

Status write_part(const Dataset& data, const std::filesystem::path& folder, const std::string& part) {
  TRY_STATUS(write_npy(folder / (part + "-features.npy"), std::get<std::vector<float>>(data.features),
                       {data.size(), data.sample_size()}));
  return write_npy(folder / (part + "-values.npy"), data.values, {data.size()});
}

}  // namespace

Dataset draw_synthetic(std::span<const float> true_model, std::size_t count, Random& random,
                       double noise_deviation) {
  Dataset data;
  data.name = "synthetic";
  data.sample_shape = {true_model.size()};
  std::vector<float> features;
  features.reserve(count * true_model.size());
  for (std::size_t i = 0; i < count; ++i) {
    double value = 0;
    for (const float weight : true_model) {
      features.push_back(static_cast<float>(random.normal()));
      value += static_cast<double>(features.back()) * static_cast<double>(weight);
    }
    data.values.push_back(static_cast<float>(value + noise_deviation * random.normal()));
  }
  data.features = std::move(features);
  return data;
}

SyntheticData generate_synthetic(std::uint64_t seed, const SyntheticSettings& settings) {
  SyntheticData data;
  Random model_stream(seed, 0);
  for (std::size_t i = 0; i < settings.dimension; ++i) {
    data.true_model.push_back(static_cast<float>(settings.model_deviation * model_stream.normal()));
  }
  Random train_stream(seed, 1);
  Random test_stream(seed, 2);
  data.split.train = draw_synthetic(data.true_model, settings.train, train_stream, settings.noise_deviation);
  data.split.test = draw_synthetic(data.true_model, settings.test, test_stream, settings.noise_deviation);
  return data;
}

Status write_synthetic(const SyntheticData& data, const std::filesystem::path& folder) {
  TRY_STATUS(write_part(data.split.train, folder, "train"));
  TRY_STATUS(write_part(data.split.test, folder, "test"));
  return write_npy(folder / "true-model.npy", data.true_model, {data.true_model.size()});
}

}  // namespace aflguard::datasets
