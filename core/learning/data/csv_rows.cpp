#include "core/learning/data/csv_rows.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace aflguard {
namespace {

/// Class names that an error lists.
constexpr std::size_t kNamesInErrors = 10;

bool looks_numeric(std::string_view field) {
  double number = 0;  // "nan" and "inf" are numbers here: bad ones, which the row's own check refuses
  if (field.starts_with('+')) field.remove_prefix(1);
  return std::from_chars(field.data(), field.data() + field.size(), number).ec != std::errc::invalid_argument;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <typename T>
void erase_front(std::vector<T>& items, std::size_t count) {
  items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(std::min(count, items.size())));
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kNamesInErrors; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kNamesInErrors ? text + ", ..." : text;
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

void CsvRows::restart() {
  columns_ = {};
  cells_.reset();
  header_.clear();
  header_seen_ = false;
  other_columns_.clear();
}

bool CsvRows::is_header(const Fields& fields) const {
  // A row with one bad value among numbers is bad data, not a header to skip.
  return std::none_of(fields.begin(), fields.end(), looks_numeric);
}

Result<bool> CsvRows::begin(const CsvReader& reader, const Fields& fields) {
  const bool may_be_header = !header_seen_ && options_.header != CsvHeader::kAbsent;
  if (may_be_header && (options_.header == CsvHeader::kPresent || is_header(fields))) {
    header_seen_ = true;
    for (const std::string_view field : fields) header_.emplace_back(trimmed(field));
    return true;
  }
  CsvOptions options = options_;
  options.delimiter = reader.delimiter();
  auto columns = find_csv_columns(options, header_, fields, options.with_labels);
  if (!columns.ok()) return reader.error_here(columns.error().message);
  columns_ = std::move(*columns);
  cells_.emplace(options_.decimal, reader.delimiter());
  if (data_.sample_shape.empty()) data_.sample_shape = {columns_.features.size()};
  return false;
}

/// A header in the middle of a file, from a program that began to write it again: half of its names are
/// known.
bool CsvRows::is_other_header(const Fields& fields) const {
  if (!header_seen_ || !is_header(fields)) return false;
  const auto known = std::count_if(header_.begin(), header_.end(), [&](const std::string& name) {
    return std::any_of(fields.begin(), fields.end(), [&](std::string_view f) { return trimmed(f) == name; });
  });
  return 2 * static_cast<std::size_t>(known) >= header_.size();
}

Status CsvRows::check_width(const CsvReader& reader, const Fields& fields) {
  if (is_other_header(fields)) {
    const bool same = std::equal(fields.begin(), fields.end(), header_.begin(), header_.end(),
                                 [](std::string_view a, const std::string& b) { return trimmed(a) == b; });
    other_columns_ = same ? "" : "the columns changed on line " + std::to_string(reader.line());
    problem_ = RowProblem::kHeader;
    if (same) return reader.error_here("a header once more");
  }
  if (!other_columns_.empty()) {
    problem_ = RowProblem::kColumns;
    return reader.error_here(other_columns_ + "; rows with other columns belong into a new file");
  }
  if (fields.size() == columns_.count) return {};
  problem_ = RowProblem::kColumns;
  return reader.error_here(std::to_string(fields.size()) + " columns, expected " +
                           std::to_string(columns_.count));
}

Status CsvRows::add(const CsvReader& reader, const Fields& fields) {
  problem_ = RowProblem::kNone;
  TRY_STATUS(check_width(reader, fields));
  pixels_.clear();
  numbers_.clear();
  missing_.clear();
  for (std::size_t i = 0; i < columns_.features.size(); ++i) {
    const Status status = read_feature(i, fields[columns_.features[i]]);
    if (!status.ok()) return reader.error_at(columns_.features[i], status.error().message);
  }
  if (columns_.label && options_.with_labels) {
    const Status status = read_label(fields[*columns_.label]);
    if (!status.ok()) return reader.error_at(*columns_.label, status.error().message);
  }
  append_row();
  return {};
}

Status CsvRows::read_feature(std::size_t feature, std::string_view field) {
  if (!options_.pixels && options_.ids == 0) return read_number(feature, field);
  problem_ = RowProblem::kNumber;
  if (options_.ids > 0) {
    TRY(const std::int64_t id, parse_csv_integer(field, 0, options_.ids - 1));
    problem_ = RowProblem::kNone;
    numbers_.push_back(static_cast<float>(id));
    return {};
  }
  TRY(const std::int64_t pixel, parse_csv_integer(field, 0, 255));
  problem_ = RowProblem::kNone;
  pixels_.push_back(static_cast<std::uint8_t>(pixel));
  return {};
}

Status CsvRows::read_number(std::size_t feature, std::string_view field) {
  const auto number = cells_->read(field);
  if (number.ok()) {
    numbers_.push_back(*number);
    return {};
  }
  problem_ = is_missing_cell(field) ? RowProblem::kMissing : RowProblem::kNumber;
  if (problem_ == RowProblem::kNumber) return number.error();
  switch (options_.missing) {
    case MissingCells::kRefuse:
      return corrupt(number.error().message + R"(; missing = "skip", "zero" or "mean" takes such cells)");
    case MissingCells::kSkip:
      return corrupt("no value");
    case MissingCells::kZero:
      numbers_.push_back(0);
      break;
    case MissingCells::kMean:
      if (options_.feature_means.empty()) {
        numbers_.push_back(0);
        missing_.push_back(feature);
      } else {
        numbers_.push_back(options_.feature_means[feature]);
      }
      break;
  }
  problem_ = RowProblem::kNone;
  return {};
}

Status CsvRows::read_label(std::string_view field) {
  if (options_.missing != MissingCells::kRefuse && is_missing_cell(field) &&
      std::find(options_.class_names.begin(), options_.class_names.end(), trimmed(field)) ==
          options_.class_names.end()) {
    problem_ = RowProblem::kMissing;
    return corrupt("no label");
  }
  if (options_.classes == 0) {
    const auto value = cells_->read(field);
    problem_ = value.ok() ? RowProblem::kNone : RowProblem::kNumber;
    if (!value.ok()) return value.error();
    row_value_ = *value;
    return {};
  }
  const Status read = read_class(field);
  problem_ = read.ok() ? RowProblem::kNone : RowProblem::kLabel;
  return read;
}

Status CsvRows::read_class(std::string_view field) {
  if (options_.class_names.empty()) {
    const auto last = options_.first_label + static_cast<std::int64_t>(options_.classes) - 1;
    auto label = parse_csv_integer(field, options_.first_label, last);
    if (!label.ok()) return at("label", label.error());
    row_label_ = *label - options_.first_label;
    return {};
  }
  const auto class_of = [this](std::string_view text) {
    const auto found = std::find(options_.class_names.begin(), options_.class_names.end(), text);
    row_label_ = found - options_.class_names.begin();
    return found != options_.class_names.end();
  };
  if (class_of(trimmed(field))) return {};
  // Classes that are called 1, 2, 3 are also written 1.0, 2.0, 3.0.
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
  if (const auto number = parse_csv_integer(field, kLow, kHigh); number.ok()) {
    if (class_of(std::to_string(*number))) return {};
  }
  return corrupt("label: '" + std::string(field.substr(0, 40)) + "' is not one of " +
                 listed(options_.class_names));
}

void CsvRows::append_row() {
  const std::size_t sample = data_.size();
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
  if (options_.missing != MissingCells::kMean || !options_.feature_means.empty() || options_.pixels) return;
  sums_.resize(numbers_.size());
  counts_.resize(numbers_.size());
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    sums_[i] += static_cast<double>(numbers_[i]);
    ++counts_[i];
  }
  for (const std::size_t feature : missing_) {  // which hold a 0 until they are filled
    --counts_[feature];
    gaps_.push_back({sample, feature});
  }
}

void CsvRows::fill_missing() {
  auto* numbers = std::get_if<std::vector<float>>(&data_.features);
  for (const Gap& gap : gaps_) {
    if (numbers == nullptr || counts_[gap.feature] == 0) continue;
    const double mean = sums_[gap.feature] / static_cast<double>(counts_[gap.feature]);
    (*numbers)[gap.sample * data_.sample_size() + gap.feature] = static_cast<float>(mean);
  }
  gaps_.clear();
}

void CsvRows::keep_newest(std::size_t count) {
  if (data_.size() <= count) return;
  fill_missing();
  const std::size_t excess = data_.size() - count;
  std::visit([&](auto& all) { erase_front(all, excess * data_.sample_size()); }, data_.features);
  erase_front(data_.values, excess);
  erase_front(data_.labels, excess);
}

}  // namespace aflguard
