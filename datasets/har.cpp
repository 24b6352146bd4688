#include "datasets/har.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/learning/data/csv.h"
#include "core/learning/data/npy.h"
#include "core/learning/data/shape.h"
#include "core/learning/model_description.h"
#include "core/system/atomic_file.h"
#include "datasets/xz_lzma.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

struct Part {
  std::vector<float> features;
  std::vector<std::int64_t> labels;  ///< from 0
  std::vector<std::int64_t> subjects;
};

Error wrong_count(const fs::path& path, std::size_t found, std::size_t expected, const char* what) {
  return corrupt(path.string() + " has " + std::to_string(found) + " " + what + ", expected " +
                 std::to_string(expected));
}

/// Calls `take(field)` for every field of a table that must have exactly `rows` rows of `columns` columns.
template <typename Take>
Status read_table(const fs::path& path, std::size_t rows, std::size_t columns, Take take) {
  TRY(auto reader, CsvReader::open(path, ' '));
  std::vector<std::string_view> fields;
  std::size_t found = 0;
  while (true) {
    TRY(const bool more, reader.next(fields));
    if (!more) break;
    if (++found > rows) return reader.error_here("more than the expected " + std::to_string(rows) + " rows");
    if (fields.size() != columns) {
      return reader.error_here(std::to_string(fields.size()) + " columns, expected " +
                               std::to_string(columns));
    }
    for (std::size_t i = 0; i < columns; ++i) {
      if (const Status status = take(fields[i]); !status.ok()) {
        return reader.error_at(i, status.error().message);
      }
    }
  }
  if (found != rows) return wrong_count(path, found, rows, "rows");
  return {};
}

Result<Part> read_original(const DatasetInfo& info, const fs::path& folder, const std::string& part,
                           std::size_t rows) {
  Part data;
  const fs::path place = folder / part;
  const std::size_t width = info.sample_shape.front();
  data.features.reserve(rows * width);
  TRY_STATUS(read_table(place / ("X_" + part + ".txt"), rows, width, [&](std::string_view field) -> Status {
    TRY(const float number, parse_csv_number(field));
    data.features.push_back(number);
    return {};
  }));
  TRY_STATUS(read_table(place / ("y_" + part + ".txt"), rows, 1, [&](std::string_view field) -> Status {
    TRY(const auto label, parse_csv_integer(field, 1, static_cast<std::int64_t>(info.classes)));
    data.labels.push_back(label - 1);
    return {};
  }));
  TRY_STATUS(read_table(place / ("subject_" + part + ".txt"), rows, 1, [&](std::string_view field) -> Status {
    TRY(const auto subject, parse_csv_integer(field, 1, static_cast<std::int64_t>(info.subjects)));
    data.subjects.push_back(subject);
    return {};
  }));
  return data;
}

Result<NpyArray> read_plain_or_xz(const fs::path& path, std::uint64_t limit) {
  std::error_code error;
  if (fs::exists(path, error)) return read_npy(path);
  const fs::path packed = path.string() + ".xz";
  TRY(const auto compressed, read_file(packed, limit));
  const auto content = unxz(compressed, limit);
  if (!content.ok()) return at(packed.string(), content.error());
  auto array = parse_npy(*content);
  if (!array.ok()) return at(packed.string(), array.error());
  return array;
}

Result<std::vector<std::int64_t>> read_numbers(const fs::path& path, std::size_t rows, std::int64_t low,
                                               std::int64_t high) {
  TRY(const NpyArray array, read_npy(path));
  if (array.shape != std::vector<std::size_t>{rows}) {
    return corrupt(path.string() + " has shape " + shape_text(array.shape) + ", expected [" +
                   std::to_string(rows) + "]");
  }
  TRY(const auto bytes, array.as_uint8(path.string()));
  for (std::size_t i = 0; i < rows; ++i) {
    if (bytes[i] < low || bytes[i] > high) {
      return corrupt(path.string() + ": row " + std::to_string(i) + " is " + std::to_string(bytes[i]) +
                     ", expected " + std::to_string(low) + " to " + std::to_string(high));
    }
  }
  return std::vector<std::int64_t>(bytes.begin(), bytes.end());
}

Result<Part> read_numpy(const DatasetInfo& info, const fs::path& folder, const std::string& part,
                        std::size_t rows) {
  constexpr std::uint64_t kHeaderAllowance = 64 * 1024;
  const std::string prefix = (folder / ("har-" + part)).string();
  const std::vector<std::size_t> shape = {rows, info.sample_shape.front()};
  const fs::path path = prefix + "-features" + std::to_string(shape[1]) + ".npy";
  TRY(const NpyArray array, read_plain_or_xz(path, element_count(shape) * sizeof(float) + kHeaderAllowance));
  if (array.shape != shape) {
    return corrupt(path.string() + " has shape " + shape_text(array.shape) + ", expected " +
                   shape_text(shape));
  }
  Part data;
  TRY(data.features, array.as_float32(path.string()));
  TRY(data.labels,
      read_numbers(prefix + "-labels.npy", rows, 0, static_cast<std::int64_t>(info.classes) - 1));
  TRY(data.subjects,
      read_numbers(prefix + "-subjects.npy", rows, 1, static_cast<std::int64_t>(info.subjects)));
  return data;
}

Status write_part(const Part& data, const DatasetInfo& info, const fs::path& target,
                  const std::string& part) {
  const std::size_t rows = data.labels.size();
  TRY_STATUS(write_npy(target / (part + "-features.npy"), data.features, {rows, info.sample_shape.front()}));
  TRY_STATUS(write_npy(target / (part + "-labels.npy"), data.labels, {rows}));
  return write_npy(target / (part + "-subjects.npy"), data.subjects, {rows});
}

using ReadPart = Result<Part> (*)(const DatasetInfo&, const fs::path&, const std::string&, std::size_t);

struct Found {
  ReadPart read;
  fs::path folder;
};

Result<Found> recognise(const fs::path& source, std::size_t width) {
  std::error_code error;
  for (const fs::path& folder : {source, source / "UCI HAR Dataset"}) {
    if (fs::exists(folder / "train" / "X_train.txt", error)) return Found{read_original, folder};
  }
  const std::string numpy = "har-train-features" + std::to_string(width) + ".npy";
  if (fs::exists(source / numpy, error) || fs::exists(source / (numpy + ".xz"), error)) {
    return Found{read_numpy, source};
  }
  return not_found(source.string() +
                   " holds neither train/X_train.txt (the published folder `UCI HAR Dataset`) nor " + numpy +
                   " or " + numpy + ".xz");
}

}  // namespace

Status import_har(const DatasetInfo& info, const fs::path& source, const fs::path& target,
                  Progress& progress) {
  TRY(const Found found, recognise(source, info.sample_shape.front()));
  progress.show("reading " + info.name, 0, 2);
  TRY(const Part train, found.read(info, found.folder, "train", info.train));
  progress.show("reading " + info.name, 1, 2);
  TRY(const Part test, found.read(info, found.folder, "test", info.test));
  TRY_STATUS(write_part(train, info, target, "train"));
  return write_part(test, info, target, "test");
}

}  // namespace aflguard::datasets
