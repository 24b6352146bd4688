#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/csv.h"
#include "core/learning/data/dataset.h"
#include "core/learning/data/sample_range.h"
#include "core/learning/model_description.h"

namespace aflguard {

enum class DatasetFormat : std::uint8_t { kIdx, kCsv, kNpy };

/// Where a user's own samples are, and in which format.
struct DatasetFiles {
  DatasetFormat format = DatasetFormat::kCsv;
  std::filesystem::path features;         ///< IDX: the images; NPY: the features; CSV: the whole table
  std::filesystem::path labels;           ///< IDX and NPY
  CsvHeader header = CsvHeader::kDetect;  ///< CSV
  std::string label_column;               ///< CSV: a header's name, a number from 0, or empty for the last
  SampleRange range;
  // CSV, how its cells are to be read.
  char delimiter = kFindDelimiter;
  std::vector<std::string> columns = {};  ///< the features, in this order; empty: all but label and ignored
  std::vector<std::string> ignore = {};
  MissingCells missing = MissingCells::kRefuse;
  DecimalMark decimal = DecimalMark::kDetect;

  friend bool operator==(const DatasetFiles&, const DatasetFiles&) = default;
};

/// How a table becomes samples for `model`: its classes and the shape of its input.
[[nodiscard]] CsvOptions csv_options(const DatasetFiles& files, const ModelDescription& model);

/// The samples, in the shape of the model's input. kInvalidInput or kCorrupt, naming the file, when they do
/// not fit the model: another number of features, a label that is not a class, values for a classifier.
[[nodiscard]] Result<Dataset> load_dataset(const DatasetFiles& files, const ModelDescription& model);

}  // namespace aflguard
