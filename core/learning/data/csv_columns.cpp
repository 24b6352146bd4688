#include "core/learning/data/csv_columns.h"

#include <algorithm>
#include <charconv>

#include "core/learning/data/csv_cells.h"
#include "core/learning/data/shape.h"

namespace aflguard {
namespace {

/// The column that a header's name or a number from 0 means.
Result<std::size_t> find_column(const std::string& wanted, const std::vector<std::string>& header,
                                std::size_t count) {
  const auto found = std::find(header.begin(), header.end(), wanted);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (problem == std::errc() && end == wanted.data() + wanted.size() && number < count) return number;
  std::string known;
  for (const std::string& name : header) {
    if (known.size() < 200) known += (known.empty() ? " (" : ", ") + name;
  }
  return corrupt("no column '" + wanted + "' among " + std::to_string(count) +
                 (known.empty() ? "" : known + ")") + "; give a header's name or a number from 0");
}

Result<std::vector<std::size_t>> find_all(const std::vector<std::string>& wanted,
                                          const std::vector<std::string>& header, std::size_t count) {
  std::vector<std::size_t> columns;
  for (const std::string& name : wanted) {
    TRY(const std::size_t column, find_column(name, header, count));
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
      return corrupt("column '" + name + "' is named twice");
    }
    columns.push_back(column);
  }
  return columns;
}

bool holds(const std::vector<std::size_t>& columns, std::size_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

std::string separated_by(char delimiter) {
  return delimiter == '\t' ? "tab" : delimiter == ' ' ? "blanks" : "'" + std::string(1, delimiter) + "'";
}

Error wrong_number(const CsvColumns& columns, const CsvOptions& options) {
  std::string left_out;
  for (const std::size_t column : columns.times) {
    left_out += (left_out.empty() ? "; left out as times: " : ", ") + columns.name(column);
  }
  return corrupt(std::to_string(columns.features.size()) + " features, shape " +
                 shape_text(options.sample_shape) + " needs " +
                 std::to_string(element_count(options.sample_shape)) + " (" + std::to_string(columns.count) +
                 " columns, separated by " + separated_by(options.delimiter) + left_out +
                 "); the keys columns and ignore choose among them");
}

}  // namespace

std::string CsvColumns::name(std::size_t column) const {
  return column < names.size() ? names[column] : std::to_string(column);
}

Result<CsvColumns> find_csv_columns(const CsvOptions& options, const std::vector<std::string>& header,
                                    const std::vector<std::string_view>& first, bool with_label) {
  CsvColumns columns;
  columns.count = first.size();
  columns.names = header;
  std::vector<std::string> known = options.ignore;
  // Rows without labels are often without the other columns too.
  if (!with_label) {
    std::erase_if(known,
                  [&](const std::string& name) { return !find_column(name, header, columns.count).ok(); });
  }
  TRY(const auto ignored, find_all(known, header, columns.count));
  TRY(const auto chosen, find_all(options.columns, header, columns.count));
  const std::size_t wanted = options.sample_shape.empty() ? 0 : element_count(options.sample_shape);

  const auto take_features = [&] {
    columns.features = chosen;
    columns.times.clear();
    if (!chosen.empty()) return;
    for (std::size_t i = 0; i < columns.count; ++i) {
      if (i == columns.label || holds(ignored, i)) continue;
      (is_time_cell(first[i]) ? columns.times : columns.features).push_back(i);
    }
  };
  if (!with_label) {
    take_features();
    if (columns.features.size() == wanted) return columns;
  }
  if (columns.count < 2) {
    return corrupt("one column, expected features and a label; is the delimiter " +
                   separated_by(options.delimiter) + "?");
  }
  if (options.label_column.empty()) {
    for (std::size_t i = 0; i < columns.count; ++i) {
      if (!holds(ignored, i) && !holds(chosen, i) && !is_time_cell(first[i])) columns.label = i;
    }
    if (!columns.label) return corrupt("no column is left for the label");
  } else {
    TRY(columns.label, find_column(options.label_column, header, columns.count));
  }
  if (holds(ignored, *columns.label) || holds(chosen, *columns.label)) {
    return corrupt("column '" + columns.name(*columns.label) +
                   "' is the label and is named as another one too");
  }
  take_features();
  if (wanted == 0 || columns.features.size() == wanted) return columns;
  return wrong_number(columns, options);
}

}  // namespace aflguard
