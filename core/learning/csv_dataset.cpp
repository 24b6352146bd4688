// How a text table becomes a data set; the reader itself is csv.cpp.
#include <algorithm>
#include <charconv>

#include "core/learning/csv.h"
#include "core/learning/model_description.h"

namespace aflguard {
namespace {

using Fields = std::vector<std::string_view>;

bool looks_numeric(std::string_view field) {
  double number = 0;  // "nan" and "inf" are numbers here: bad ones, which the row's own check refuses
  if (field.starts_with('+')) field.remove_prefix(1);
  return std::from_chars(field.data(), field.data() + field.size(), number).ec != std::errc::invalid_argument;
}

class TableToDataset final {
 public:
  TableToDataset(const std::string& name, const CsvOptions& options) : options_(options) {
    data_.name = name;
    data_.classes = options.classes;
  }

  Result<Dataset> read(const std::filesystem::path& path) {
    TRY(auto reader, CsvReader::open(path, options_.delimiter, options_.limits));
    Fields fields;
    TRY(bool more, reader.next(fields));
    if (!more) return corrupt(path.string() + ": the table is empty");
    const bool header = is_header(fields);
    TRY_STATUS(set_columns(reader, fields, header));
    if (header) {
      TRY(more, reader.next(fields));
    }
    while (more) {
      TRY_STATUS(add_row(reader, fields));
      TRY(more, reader.next(fields));
    }
    if (data_.size() == 0) return corrupt(path.string() + ": the table has a header and no rows");
    if (options_.pixels) {
      data_.features = std::move(pixels_);
    } else {
      data_.features = std::move(numbers_);
    }
    TRY_STATUS(data_.validate());
    return std::move(data_);
  }

 private:
  [[nodiscard]] bool is_header(const Fields& fields) const {
    if (options_.header != CsvHeader::kDetect) return options_.header == CsvHeader::kPresent;
    // A row with one bad value among numbers is bad data, not a header to skip.
    return std::none_of(fields.begin(), fields.end(), looks_numeric);
  }

  Status set_columns(const CsvReader& reader, const Fields& first, bool header) {
    columns_ = first.size();
    if (columns_ < 2) {
      return reader.error_here("one column, expected features and a label; is the delimiter '" +
                               std::string(1, options_.delimiter) + "'?");
    }
    TRY_STATUS(find_label_column(reader, first, header));
    data_.sample_shape = options_.sample_shape;
    if (data_.sample_shape.empty()) data_.sample_shape = {columns_ - 1};
    if (data_.sample_size() == columns_ - 1) return {};
    return reader.error_here(std::to_string(columns_ - 1) + " features, shape " +
                             shape_text(data_.sample_shape) + " needs " +
                             std::to_string(data_.sample_size()));
  }

  Status find_label_column(const CsvReader& reader, const Fields& first, bool header) {
    const std::string& wanted = options_.label_column;
    label_ = columns_ - 1;
    if (wanted.empty()) return {};
    if (header) {
      const auto found = std::find(first.begin(), first.end(), wanted);
      label_ = static_cast<std::size_t>(found - first.begin());
      if (found != first.end()) return {};
    }
    const auto [end, problem] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), label_);
    if (problem == std::errc() && end == wanted.data() + wanted.size() && label_ < columns_) return {};
    return reader.error_here("no column '" + wanted + "' among " + std::to_string(columns_) +
                             "; give a header's name or a number from 0");
  }

  Status add_row(const CsvReader& reader, const Fields& fields) {
    if (fields.size() != columns_) {
      return reader.error_here(std::to_string(fields.size()) + " columns, expected " +
                               std::to_string(columns_));
    }
    for (std::size_t i = 0; i < columns_; ++i) {
      const Status status = i == label_ ? add_label(fields[i]) : add_feature(fields[i]);
      if (!status.ok()) return reader.error_at(i, status.error().message);
    }
    return {};
  }

  Status add_feature(std::string_view field) {
    if (options_.pixels) {
      TRY(const std::int64_t pixel, parse_csv_integer(field, 0, 255));
      pixels_.push_back(static_cast<std::uint8_t>(pixel));
    } else {
      TRY(const float number, parse_csv_number(field));
      numbers_.push_back(number);
    }
    return {};
  }

  Status add_label(std::string_view field) {
    if (options_.classes == 0) {
      TRY(const float value, parse_csv_number(field));
      data_.values.push_back(value);
      return {};
    }
    const auto last = options_.first_label + static_cast<std::int64_t>(options_.classes) - 1;
    auto label = parse_csv_integer(field, options_.first_label, last);
    if (!label.ok()) return at("label", label.error());
    data_.labels.push_back(*label - options_.first_label);
    return {};
  }

  const CsvOptions& options_;
  Dataset data_;
  std::size_t columns_ = 0;
  std::size_t label_ = 0;
  std::vector<std::uint8_t> pixels_;
  std::vector<float> numbers_;
};

}  // namespace

Result<Dataset> read_csv_dataset(const std::string& name, const std::filesystem::path& path,
                                 const CsvOptions& options) {
  return TableToDataset(name, options).read(path);
}

}  // namespace aflguard
