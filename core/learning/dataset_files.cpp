#include "core/learning/dataset_files.h"

#include <algorithm>

#include "core/learning/data/idx.h"
#include "core/learning/data/npy_dataset.h"
#include "core/learning/data/shape.h"

namespace aflguard {
namespace {

std::vector<std::size_t> without_ones(std::vector<std::size_t> shape) {
  std::erase(shape, std::size_t{1});
  return shape;
}

/// The same numbers in the same order mean the same: flat, or with extents of 1 in other places.
bool same_layout(const std::vector<std::size_t>& found, const std::vector<std::size_t>& wanted) {
  if (element_count(found) != element_count(wanted)) return false;
  return found.size() <= 1 || wanted.size() <= 1 || without_ones(found) == without_ones(wanted);
}

Result<Dataset> read(const DatasetFiles& files, const ModelDescription& model) {
  const std::string name = files.features.filename().string();
  switch (files.format) {
    case DatasetFormat::kIdx:
      if (model.classes() == 0) {
        return invalid_input("IDX files hold class labels, and model '" + model.name +
                             "' predicts values; give CSV or NPY");
      }
      return read_idx_dataset(name, model.classes(), files.features, files.labels, files.range);
    case DatasetFormat::kNpy:
      return read_npy_dataset(name, model.classes(), files.features, files.labels, {}, files.range);
    case DatasetFormat::kCsv:
      return read_csv_dataset(name, files.features, csv_options(files, model));
  }
  return internal_error("a data set of no known format");
}

/// Bytes are ids as they are, not pixels that are divided by 255.
Status take_ids(Dataset& data, const ModelDescription& model, const std::string& what) {
  if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&data.features))
    data.features = std::vector<float>(bytes->begin(), bytes->end());
  return check_input_ids(model, std::get<std::vector<float>>(data.features), what);
}

}  // namespace

CsvOptions csv_options(const DatasetFiles& files, const ModelDescription& model) {
  CsvOptions options;
  options.delimiter = files.delimiter;
  options.header = files.header;
  options.label_column = files.label_column;
  options.classes = model.classes();
  options.sample_shape = model.input_shape;
  options.ids = model.input_ids;
  options.range = files.range;
  options.columns = files.columns;
  options.ignore = files.ignore;
  options.missing = files.missing;
  options.decimal = files.decimal;
  options.class_names = model.class_names;
  options.feature_means = model.scaling.means;
  return options;
}

Result<Dataset> load_dataset(const DatasetFiles& files, const ModelDescription& model) {
  if (model.classes() == 0 && model.output_size() != 1) {
    return unsupported("model '" + model.name + "' predicts " + std::to_string(model.output_size()) +
                       " values per sample; data files hold one");
  }
  TRY(Dataset data, read(files, model));
  if (!same_layout(data.sample_shape, model.input_shape)) {
    return invalid_input(files.features.string() + " holds samples of shape " +
                         shape_text(data.sample_shape) + ", model '" + model.name + "' needs " +
                         shape_text(model.input_shape));
  }
  data.sample_shape = model.input_shape;
  if (model.input_type == InputType::kInt64) TRY_STATUS(take_ids(data, model, files.features.string()));
  if (data.size() == 0) return invalid_input(files.features.string() + " holds no samples");
  return data;
}

}  // namespace aflguard
