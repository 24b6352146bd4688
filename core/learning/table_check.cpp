#include "core/learning/table_check.h"

#include <algorithm>
#include <map>

#include "core/learning/data/csv_rows.h"

namespace aflguard {
namespace {

/// Different labels that are remembered; a column of measurements has as many as rows.
constexpr std::size_t kMaxLabels = 100;

std::string reason_text(RowProblem problem) {
  switch (problem) {
    case RowProblem::kMissing:
      return "a cell has no value";
    case RowProblem::kNumber:
      return "a cell is not a number";
    case RowProblem::kLabel:
      return "the label is not a class of the model";
    case RowProblem::kColumns:
      return "other columns than the rows before";
    case RowProblem::kHeader:
      return "a header once more";
    case RowProblem::kNone:
      break;
  }
  return "the line cannot be split into fields";
}

class Check final {
 public:
  Check(const DatasetFiles& files, const ModelDescription& model, CsvReader reader)
      : options_(csv_options(files, model)),
        model_(model),
        reader_(std::move(reader)),
        rows_(files.features.filename().string(), options_) {}

  Result<TableCheck> run() {
    CsvRows::Fields fields;
    while (true) {
      const auto more = reader_.next(fields);
      if (!more.ok() && more.error().kind == ErrorKind::kIo) return more.error();
      if (more.ok() && !*more) break;
      if (!more.ok()) {
        ++result_.rows;
        skip(RowProblem::kNone, more.error().message, false);
        continue;
      }
      if (!begun_ && !begin(fields)) {
        if (!result_.problems.empty()) break;
        continue;
      }
      take(fields);
    }
    finish();
    return std::move(result_);
  }

 private:
  /// False for the header, and when the columns cannot be the samples.
  bool begin(const CsvRows::Fields& fields) {
    const auto header = rows_.begin(reader_, fields);
    result_.delimiter = reader_.delimiter();
    if (!header.ok()) result_.problems.push_back(header.error().message);
    if (!header.ok() || *header) return false;
    begun_ = true;
    const CsvColumns& columns = rows_.columns();
    for (const std::size_t column : columns.features)
      result_.columns.push_back({.name = columns.name(column)});
    result_.label = columns.name(*columns.label);
    for (std::size_t i = 0; i < columns.count; ++i) {
      const auto& features = columns.features;
      const bool used =
          i == columns.label || std::find(features.begin(), features.end(), i) != features.end();
      if (!used) result_.left_out.push_back(columns.name(i));
    }
    if (model_.classes() > 0) result_.classes.resize(model_.classes());
    for (std::size_t i = 0; i < result_.classes.size(); ++i) result_.classes[i].name = model_.class_name(i);
    numbers_.emplace(options_.decimal, reader_.delimiter());
    return true;
  }

  void take(const CsvRows::Fields& fields) {
    ++result_.rows;
    const Status added = rows_.add(reader_, fields);
    if (rows_.problem() != RowProblem::kColumns && rows_.problem() != RowProblem::kHeader) look_at(fields);
    if (!added.ok()) return skip(rows_.problem(), added.error().message, rows_.left_out_on_purpose());
    ++result_.used;
    const Dataset& data = rows_.data();
    if (!result_.classes.empty()) ++result_.classes[static_cast<std::size_t>(data.labels.back())].count;
    rows_.keep_newest(1);
  }

  /// Ranges and gaps of the columns, whatever else is in the row.
  void look_at(const CsvRows::Fields& fields) {
    const CsvColumns& columns = rows_.columns();
    for (std::size_t i = 0; i < columns.features.size(); ++i) {
      const std::string_view cell = fields[columns.features[i]];
      TableCheck::Column& column = result_.columns[i];
      const auto number = numbers_->read(cell);
      if (!number.ok()) {
        column.missing += is_missing_cell(cell) ? 1 : 0;
        continue;
      }
      const auto value = static_cast<double>(*number);
      column.low = column.numbers ? std::min(column.low, value) : value;
      column.high = column.numbers ? std::max(column.high, value) : value;
      column.numbers = true;
    }
    const std::string label(fields[*columns.label]);
    if (labels_.contains(label) || labels_.size() < kMaxLabels) ++labels_[label];
  }

  void skip(RowProblem problem, const std::string& message, bool on_purpose) {
    const std::string reason = reason_text(problem);
    auto found = std::find_if(result_.skipped.begin(), result_.skipped.end(),
                              [&](const TableCheck::Skipped& skipped) { return skipped.reason == reason; });
    if (found == result_.skipped.end()) {
      result_.skipped.push_back({reason, 0, reader_.line()});
      found = result_.skipped.end() - 1;
      if (!on_purpose) result_.problems.push_back(message);
    }
    ++found->count;
  }

  void finish() {
    if (!result_.problems.empty() && begun_) {
      result_.problems.push_back(
          "a board with a fixed table stops at such a row; with follow = true it leaves the row out");
    }
    const bool unknown = std::any_of(result_.skipped.begin(), result_.skipped.end(), [](const auto& skipped) {
      return skipped.reason == reason_text(RowProblem::kLabel);
    });
    if (unknown) name_labels();
    if (result_.used == 0 && result_.problems.empty()) result_.problems.push_back("no row is a sample");
  }

  /// Which labels there are, and how they get into the package.
  void name_labels() {
    std::string names;
    std::size_t count = 0;
    for (const auto& [label, rows] : labels_) {
      if (is_missing_cell(label)) continue;
      names += (count++ == 0 ? "" : ",") + label;
    }
    const std::string found = "labels in the table: " + names;
    if (!model_.class_names.empty()) {
      std::string known;
      for (const std::string& name : model_.class_names) known += (known.empty() ? "" : ",") + name;
      result_.problems.push_back(found + "; in the package: " + known);
    } else if (count == model_.classes()) {
      result_.problems.push_back(found + "; the package has no class names: build it with --labels " + names +
                                 " (this order is the order of the classes)");
    } else {
      result_.problems.push_back(found + "; that are " + std::to_string(count) + " classes, the model has " +
                                 std::to_string(model_.classes()));
    }
  }

  const CsvOptions options_;
  const ModelDescription& model_;
  CsvReader reader_;
  CsvRows rows_;
  std::optional<CsvNumbers> numbers_;
  std::map<std::string, std::size_t> labels_;
  bool begun_ = false;
  TableCheck result_;
};

}  // namespace

Result<TableCheck> check_table(const DatasetFiles& files, const ModelDescription& model) {
  if (model.classes() == 0 && model.output_size() != 1) {
    return unsupported("model '" + model.name + "' predicts " + std::to_string(model.output_size()) +
                       " values per sample; tables hold one");
  }
  const CsvOptions options = csv_options(files, model);
  TRY(auto reader, CsvReader::open(files.features, options.delimiter, options.limits));
  return Check(files, model, std::move(reader)).run();
}

}  // namespace aflguard
