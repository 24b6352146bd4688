#include "datasets/load.h"

#include <map>
#include <set>

#include "core/learning/data/cifar10.h"
#include "core/learning/data/idx.h"
#include "core/learning/data/npy.h"
#include "core/learning/data/npy_dataset.h"
#include "core/learning/data/shape.h"
#include "core/learning/model_description.h"
#include "datasets/folders.h"
#include "datasets/manifest.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

Result<DatasetSplit> load_idx(const DatasetInfo& info, const fs::path& folder) {
  TRY(auto train, read_idx_dataset(info.name, info.classes, folder / "train-images-idx3-ubyte",
                                   folder / "train-labels-idx1-ubyte"));
  TRY(auto test, read_idx_dataset(info.name, info.classes, folder / "t10k-images-idx3-ubyte",
                                  folder / "t10k-labels-idx1-ubyte"));
  return DatasetSplit{std::move(train), std::move(test)};
}

Result<DatasetSplit> load_cifar10(const DatasetInfo& info, const fs::path& folder) {
  std::vector<fs::path> batches;
  for (int i = 1; i <= 5; ++i) batches.push_back(folder / ("data_batch_" + std::to_string(i) + ".bin"));
  TRY(auto train, read_cifar10(info.name, batches, info.train / batches.size()));
  TRY(auto test, read_cifar10(info.name, {folder / "test_batch.bin"}, info.test));
  return DatasetSplit{std::move(train), std::move(test)};
}

Result<Dataset> load_npy_part(const DatasetInfo& info, const fs::path& folder, const std::string& part) {
  const fs::path subjects = info.subjects > 0 ? folder / (part + "-subjects.npy") : fs::path();
  return read_npy_dataset(info.name, info.classes, folder / (part + "-features.npy"),
                          folder / (part + (info.classes > 0 ? "-labels.npy" : "-values.npy")), subjects);
}

Result<DatasetSplit> load_npy(const DatasetInfo& info, const fs::path& folder) {
  TRY(auto train, load_npy_part(info, folder, "train"));
  TRY(auto test, load_npy_part(info, folder, "test"));
  return DatasetSplit{std::move(train), std::move(test)};
}

Result<DatasetSplit> load_files(const DatasetInfo& info, const fs::path& folder) {
  switch (info.layout) {
    case Layout::kIdx:
      return load_idx(info, folder);
    case Layout::kCifar10:
      return load_cifar10(info, folder);
    case Layout::kNpy:
      return load_npy(info, folder);
  }
  return internal_error("unknown layout of data set '" + info.name + "'");
}

Status verify_classes(const DatasetInfo& info, const std::string& place, const Dataset& data) {
  std::map<std::int64_t, std::size_t> counts;
  for (const std::int64_t label : data.labels) ++counts[label];
  if (counts.size() != info.classes) {
    return corrupt(place + " has samples of " + std::to_string(counts.size()) + " classes, expected " +
                   std::to_string(info.classes));
  }
  if (!info.balanced) return {};
  for (const auto& [label, count] : counts) {
    if (count != data.size() / info.classes) {
      return corrupt(place + " has " + std::to_string(count) + " samples of class " + std::to_string(label) +
                     ", expected " + std::to_string(data.size() / info.classes));
    }
  }
  return {};
}

Status verify_part(const DatasetInfo& info, const char* part, const Dataset& data, std::size_t count) {
  const std::string place = info.name + " " + part + " data";
  if (data.size() != count) {
    return corrupt(place + " has " + std::to_string(data.size()) + " samples, expected " +
                   std::to_string(count));
  }
  if (data.sample_shape != info.sample_shape) {
    return corrupt(place + " has samples of shape " + shape_text(data.sample_shape) + ", expected " +
                   shape_text(info.sample_shape));
  }
  return verify_classes(info, place, data);
}

Status verify_subjects(const DatasetInfo& info, const DatasetSplit& split) {
  std::set<std::int64_t> subjects(split.train.subjects.begin(), split.train.subjects.end());
  subjects.insert(split.test.subjects.begin(), split.test.subjects.end());
  if (subjects.size() == info.subjects) return {};
  return corrupt(info.name + " data has " + std::to_string(subjects.size()) + " subjects, expected " +
                 std::to_string(info.subjects));
}

}  // namespace

Result<DatasetSplit> load_folder(const DatasetInfo& info, const fs::path& folder) {
  TRY(auto split, load_files(info, folder));
  TRY_STATUS(verify_part(info, "training", split.train, info.train));
  TRY_STATUS(verify_part(info, "test", split.test, info.test));
  TRY_STATUS(verify_subjects(info, split));
  return split;
}

Result<DatasetSplit> load_dataset(std::string_view name, const fs::path& data_dir) {
  TRY(const DatasetInfo info, find_dataset(name));
  TRY_STATUS(check_installed(info, data_dir));
  return load_folder(info, data_dir / info.name);
}

Result<DatasetSplit> load_dataset(std::string_view name) {
  TRY(const fs::path folder, data_folder());
  return load_dataset(name, folder);
}

Result<std::vector<float>> load_true_model(const fs::path& data_dir) {
  TRY(const DatasetInfo info, find_dataset("synthetic"));
  TRY_STATUS(check_installed(info, data_dir));
  const fs::path path = data_dir / info.name / "true-model.npy";
  TRY(const NpyArray array, read_npy(path));
  if (array.shape != info.sample_shape) {
    return corrupt(path.string() + " has shape " + shape_text(array.shape) + ", expected " +
                   shape_text(info.sample_shape));
  }
  return array.as_float32(path.string());
}

}  // namespace aflguard::datasets
