#include "core/learning/data/npy_dataset.h"

#include "core/learning/data/npy.h"
#include "core/learning/data/shape.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

Status check_vector(const NpyArray& array, const fs::path& path, std::size_t count) {
  if (array.shape == std::vector{count} || array.shape == std::vector<std::size_t>{count, 1}) return {};
  return invalid_input(path.string() + " has shape " + shape_text(array.shape) + ", the features need [" +
                       std::to_string(count) + "]");
}

/// Class or subject numbers: one per sample, in either of two widths.
Result<std::vector<std::int64_t>> read_integers(const fs::path& path, std::size_t count,
                                                const SampleRange& range) {
  TRY(const auto array, read_npy(path, range));
  TRY_STATUS(check_vector(array, path, count));
  if (array.dtype == "|u1") {
    TRY(const auto bytes, array.as_uint8(path.string()));
    return std::vector<std::int64_t>(bytes.begin(), bytes.end());
  }
  return array.as_int64(path.string());
}

/// Ids, as models with an embedding take them: no number that float32 cannot hold.
Result<std::vector<float>> whole_numbers(const NpyArray& array, const fs::path& path) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 24;
  TRY(const auto numbers, array.as_int64(path.string()));
  for (const std::int64_t number : numbers) {
    if (number < -kLimit || number > kLimit)
      return invalid_input(path.string() + " holds " + std::to_string(number) +
                           "; int64 features may be at most " + std::to_string(kLimit) + " either way");
  }
  return std::vector<float>(numbers.begin(), numbers.end());
}

Status read_features(const fs::path& path, const SampleRange& range, Dataset& data, std::size_t& count) {
  TRY(const auto array, read_npy(path, range));
  if (array.shape.size() < 2) {
    return invalid_input(path.string() + " has shape " + shape_text(array.shape) +
                         ", expected [samples, features...]");
  }
  count = array.shape[0];
  data.sample_shape.assign(array.shape.begin() + 1, array.shape.end());
  if (array.dtype == "|u1") {
    TRY(data.features, array.as_uint8(path.string()));
  } else if (array.dtype == "<i8") {
    TRY(data.features, whole_numbers(array, path));
  } else {
    TRY(data.features, array.as_float32(path.string()));
  }
  return {};
}

}  // namespace

Result<Dataset> read_npy_dataset(const std::string& name, std::size_t classes, const fs::path& features,
                                 const fs::path& labels, const fs::path& subjects, const SampleRange& range) {
  Dataset data;
  data.name = name;
  data.classes = classes;
  std::size_t count = 0;
  TRY_STATUS(read_features(features, range, data, count));
  if (classes > 0) {
    TRY(data.labels, read_integers(labels, count, range));
  } else {
    TRY(const auto array, read_npy(labels, range));
    TRY_STATUS(check_vector(array, labels, count));
    TRY(data.values, array.as_float32(labels.string()));
  }
  if (!subjects.empty()) {
    TRY(data.subjects, read_integers(subjects, count, range));
  }
  if (const Status status = data.validate(); !status.ok()) return at(features.string(), status.error());
  return data;
}

}  // namespace aflguard
