#include "core/config/dataset_section.h"

#include <array>
#include <limits>
#include <utility>

namespace aflguard {
namespace {

constexpr std::int64_t kMaxSamples = std::int64_t{1} << 40;

/// "last", a header's name, or a number from 0, which may stand without quotes.
std::string read_label_column(ConfigTable& section) {
  const std::string key = "label_column";
  if (section.holds_integer(key)) return std::to_string(section.integer(key, 0, 65535));
  const std::string column = section.text_or(key, "last");
  return column == "last" ? "" : column;
}

/// One letter, or "tab".
char read_delimiter(ConfigTable& section) {
  const std::string text = section.text_or("delimiter", "auto");
  if (text == "auto") return kFindDelimiter;
  if (text == "tab") return '\t';
  if (text.size() == 1 && text != "\"" && text != "\n" && text != "\r") return text.front();
  section.problem("delimiter", "is \"" + text + "\", must be one letter such as \",\" or \";\", or \"tab\"");
  return kFindDelimiter;
}

void read_csv_keys(ConfigTable& section, DatasetFiles& files) {
  files.label_column = read_label_column(section);
  if (section.has("header")) {
    files.header = section.boolean_or("header", false) ? CsvHeader::kPresent : CsvHeader::kAbsent;
  }
  files.delimiter = read_delimiter(section);
  files.columns = section.names("columns");
  files.ignore = section.names("ignore");
  if (!files.columns.empty()) section.report("ignore", "does not go with columns, which names all features");
  const std::string missing = section.choice_or("missing", "refuse", {"refuse", "skip", "zero", "mean"});
  if (missing == "skip") files.missing = MissingCells::kSkip;
  if (missing == "zero") files.missing = MissingCells::kZero;
  if (missing == "mean") files.missing = MissingCells::kMean;
  const std::string decimal = section.choice_or("decimal", "auto", {"auto", "point", "comma"});
  if (decimal == "point") files.decimal = DecimalMark::kPoint;
  if (decimal == "comma") files.decimal = DecimalMark::kComma;
}

/// A key of another format is not a typing error, so it gets its own message.
void report_keys_of_other_formats(ConfigTable& section, const std::string& format) {
  static constexpr std::array<std::pair<const char*, const char*>, 12> kKeys = {{{"idx", "images"},
                                                                                 {"idx", "labels"},
                                                                                 {"csv", "file"},
                                                                                 {"csv", "label_column"},
                                                                                 {"csv", "header"},
                                                                                 {"csv", "delimiter"},
                                                                                 {"csv", "columns"},
                                                                                 {"csv", "ignore"},
                                                                                 {"csv", "missing"},
                                                                                 {"csv", "decimal"},
                                                                                 {"npy", "features"},
                                                                                 {"npy", "labels"}}};
  for (const auto& [owner, key] : kKeys) {
    const bool labels_are_fine = std::string_view(key) == "labels" && format != "csv";
    if (owner != format && !labels_are_fine) {
      const bool class_names = format == "csv" && std::string_view(key) == "labels";
      section.report(key,
                     "goes with format = \"" + std::string(owner) + "\", and format is \"" + format +
                         (class_names ? "\"; class names are part of the model package, so that all boards "
                                        "agree: aflguard model build --labels"
                                      : "\""));
    }
  }
}

}  // namespace

DatasetFiles read_dataset_files(ConfigTable& section) {
  DatasetFiles files;
  const std::string format = section.choice("format", {"idx", "csv", "npy"});
  if (format == "csv") {
    files.format = DatasetFormat::kCsv;
    files.features = section.path("file");
    read_csv_keys(section, files);
  } else {
    files.format = format == "idx" ? DatasetFormat::kIdx : DatasetFormat::kNpy;
    files.features = section.path(format == "idx" ? "images" : "features");
    files.labels = section.path("labels");
  }
  report_keys_of_other_formats(section, format);
  files.range.first = static_cast<std::size_t>(section.integer_or("first", 0, 0, kMaxSamples));
  if (const auto count = section.optional_integer("count", 1, kMaxSamples)) {
    files.range.count = static_cast<std::size_t>(*count);
  }
  return files;
}

}  // namespace aflguard
