#include "firmware_sim/local_fleet/dataset_export.h"

#include "core/learning/data/idx.h"
#include "core/learning/data/npy.h"
#include "fleet/folder/toml_template.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

bool fits_idx(const Dataset& data) {
  return std::holds_alternative<std::vector<std::uint8_t>>(data.features) && data.sample_shape.size() == 3 &&
         data.sample_shape[0] == 1 && !data.regression() && data.classes <= 256;
}

Result<std::vector<std::string>> export_idx(const Dataset& data, const fs::path& folder,
                                            const std::string& stem, const fs::path& named) {
  const std::string images = stem + "-images-idx3-ubyte";
  const std::string labels = stem + "-labels-idx1-ubyte";
  const std::vector<std::uint8_t> classes(data.labels.begin(), data.labels.end());
  TRY_STATUS(write_idx(folder / images, {data.size(), data.sample_shape[1], data.sample_shape[2]},
                       std::get<std::vector<std::uint8_t>>(data.features)));
  TRY_STATUS(write_idx(folder / labels, {data.size()}, classes));
  return std::vector<std::string>{"format = \"idx\"",
                                  "images = " + fleet::toml_text((named / images).string()),
                                  "labels = " + fleet::toml_text((named / labels).string())};
}

Result<std::vector<std::string>> export_npy(const Dataset& data, const fs::path& folder,
                                            const std::string& stem, const fs::path& named) {
  const std::string features = stem + "-features.npy";
  const std::string labels = stem + "-labels.npy";
  std::vector<std::size_t> shape = {data.size()};
  shape.insert(shape.end(), data.sample_shape.begin(), data.sample_shape.end());
  std::vector<float> values(data.size() * data.sample_size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    data.copy_features(i, std::span(values).subspan(i * data.sample_size(), data.sample_size()));
  }
  TRY_STATUS(write_npy(folder / features, values, shape));
  TRY_STATUS(data.regression()
                 ? write_npy(folder / labels, std::span<const float>(data.values), {data.size()})
                 : write_npy(folder / labels, std::span<const std::int64_t>(data.labels), {data.size()}));
  return std::vector<std::string>{"format = \"npy\"",
                                  "features = " + fleet::toml_text((named / features).string()),
                                  "labels = " + fleet::toml_text((named / labels).string())};
}

}  // namespace

Result<std::vector<std::string>> export_dataset(const Dataset& data, const fs::path& folder,
                                                const std::string& stem, const fs::path& named) {
  return fits_idx(data) ? export_idx(data, folder, stem, named) : export_npy(data, folder, stem, named);
}

}  // namespace aflguard::sim
