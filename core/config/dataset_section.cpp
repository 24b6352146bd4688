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

/// A key of another format is not a typing error, so it gets its own message.
void report_keys_of_other_formats(ConfigTable& section, const std::string& format) {
  static constexpr std::array<std::pair<const char*, const char*>, 7> kKeys = {{{"idx", "images"},
                                                                                {"idx", "labels"},
                                                                                {"csv", "file"},
                                                                                {"csv", "label_column"},
                                                                                {"csv", "header"},
                                                                                {"npy", "features"},
                                                                                {"npy", "labels"}}};
  for (const auto& [owner, key] : kKeys) {
    const bool labels_are_fine = std::string_view(key) == "labels" && format != "csv";
    if (owner != format && !labels_are_fine) {
      section.report(key,
                     "goes with format = \"" + std::string(owner) + "\", and format is \"" + format + "\"");
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
    files.label_column = read_label_column(section);
    if (section.has("header")) {
      files.header = section.boolean_or("header", false) ? CsvHeader::kPresent : CsvHeader::kAbsent;
    }
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
