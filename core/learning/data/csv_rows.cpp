#include "core/learning/data/csv_rows.h"

#include <algorithm>
#include <charconv>

#include "core/learning/data/shape.h"

namespace aflguard {
namespace {

bool looks_numeric(std::string_view field) {
  double number = 0;  // "nan" and "inf" are numbers here: bad ones, which the row's own check refuses
  if (field.starts_with('+')) field.remove_prefix(1);
  return std::from_chars(field.data(), field.data() + field.size(), number).ec != std::errc::invalid_argument;
}

template <typename T>
void erase_front(std::vector<T>& items, std::size_t count) {
  items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(std::min(count, items.size())));
}

}  // namespace

CsvRows::CsvRows(std::string name, CsvOptions options) : options_(std::move(options)) {
  data_.name = std::move(name);
  data_.classes = options_.classes;
  data_.sample_shape = options_.sample_shape;
  if (options_.pixels) {
    data_.features = std::vector<std::uint8_t>{};
  } else {
    data_.features = std::vector<float>{};
  }
}

bool CsvRows::is_header(const Fields& fields) const {
  if (options_.header != CsvHeader::kDetect) return options_.header == CsvHeader::kPresent;
  // A row with one bad value among numbers is bad data, not a header to skip.
  return std::none_of(fields.begin(), fields.end(), looks_numeric);
}

Result<bool> CsvRows::begin(const CsvReader& reader, const Fields& fields) {
  columns_ = fields.size();
  if (columns_ < 2) {
    return reader.error_here("one column, expected features and a label; is the delimiter '" +
                             std::string(1, options_.delimiter) + "'?");
  }
  const bool header = is_header(fields);
  TRY_STATUS(find_label_column(reader, fields, header));
  if (data_.sample_shape.empty()) data_.sample_shape = {columns_ - 1};
  if (data_.sample_size() == columns_ - 1) return header;
  return reader.error_here(std::to_string(columns_ - 1) + " features, shape " +
                           shape_text(data_.sample_shape) + " needs " + std::to_string(data_.sample_size()));
}

Status CsvRows::find_label_column(const CsvReader& reader, const Fields& first, bool header) {
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

Status CsvRows::add(const CsvReader& reader, const Fields& fields) {
  if (fields.size() != columns_) {
    return reader.error_here(std::to_string(fields.size()) + " columns, expected " +
                             std::to_string(columns_));
  }
  pixels_.clear();
  numbers_.clear();
  for (std::size_t i = 0; i < columns_; ++i) {
    const Status status = i == label_ ? read_label(fields[i]) : read_feature(fields[i]);
    if (!status.ok()) return reader.error_at(i, status.error().message);
  }
  append_row();
  return {};
}

Status CsvRows::read_feature(std::string_view field) {
  if (options_.pixels) {
    TRY(const std::int64_t pixel, parse_csv_integer(field, 0, 255));
    pixels_.push_back(static_cast<std::uint8_t>(pixel));
  } else if (options_.ids > 0) {
    TRY(const std::int64_t id, parse_csv_integer(field, 0, options_.ids - 1));
    numbers_.push_back(static_cast<float>(id));
  } else {
    TRY(const float number, parse_csv_number(field));
    numbers_.push_back(number);
  }
  return {};
}

Status CsvRows::read_label(std::string_view field) {
  if (options_.classes == 0) {
    TRY(row_value_, parse_csv_number(field));
    return {};
  }
  const auto last = options_.first_label + static_cast<std::int64_t>(options_.classes) - 1;
  auto label = parse_csv_integer(field, options_.first_label, last);
  if (!label.ok()) return at("label", label.error());
  row_label_ = *label - options_.first_label;
  return {};
}

void CsvRows::append_row() {
  if (auto* pixels = std::get_if<std::vector<std::uint8_t>>(&data_.features)) {
    pixels->insert(pixels->end(), pixels_.begin(), pixels_.end());
  } else {
    auto& numbers = std::get<std::vector<float>>(data_.features);
    numbers.insert(numbers.end(), numbers_.begin(), numbers_.end());
  }
  if (options_.classes == 0) {
    data_.values.push_back(row_value_);
  } else {
    data_.labels.push_back(row_label_);
  }
}

void CsvRows::keep_newest(std::size_t count) {
  if (data_.size() <= count) return;
  const std::size_t excess = data_.size() - count;
  std::visit([&](auto& all) { erase_front(all, excess * data_.sample_size()); }, data_.features);
  erase_front(data_.values, excess);
  erase_front(data_.labels, excess);
}

}  // namespace aflguard
