#include "lab/tasks/own_data.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>

#include "core/base/random.h"
#include "core/base/sha256.h"
#include "core/learning/data/csv.h"
#include "core/learning/data/partition.h"
#include "core/learning/dataset_files.h"
#include "core/system/atomic_file.h"

namespace aflguard::lab {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{4} << 30;
constexpr std::uint64_t kSplitSeed = 1;  // the same test part in every run
constexpr double kTestShare = 0.2;

/// FEATURES.npy:LABELS.npy, or one table.
std::pair<std::string, std::string> files_of(const std::string& dataset) {
  const std::size_t colon = dataset.find(".npy:");
  if (colon == std::string::npos) return {dataset, {}};
  return {dataset.substr(0, colon + 4), dataset.substr(colon + 5)};
}

/// Numbers in the order in which the texts of a column first appear.
Result<std::vector<std::int64_t>> column_as_subjects(const std::string& path, const std::string& column) {
  TRY(auto reader, CsvReader::open(path, kFindDelimiter));
  std::vector<std::string_view> fields;
  TRY(const bool header, reader.next(fields));
  const auto found = std::find(fields.begin(), fields.end(), column);
  if (!header || found == fields.end()) {
    return invalid_input(path + ": no column '" + column + "' in the first line");
  }
  const auto place = static_cast<std::size_t>(found - fields.begin());
  std::map<std::string, std::int64_t, std::less<>> numbers;
  std::vector<std::int64_t> subjects;
  while (true) {
    TRY(const bool more, reader.next(fields));
    if (!more) return subjects;
    if (place >= fields.size()) return reader.error_here("no column '" + column + "'");
    const auto next = static_cast<std::int64_t>(numbers.size());
    subjects.push_back(numbers.try_emplace(std::string(fields[place]), next).first->second);
  }
}

}  // namespace

Result<DatasetSplit> load_own_data(const std::string& dataset, const std::string& partition,
                                   const ModelDescription& model) {
  const auto [features, labels] = files_of(dataset);
  DatasetFiles files;
  files.features = features;
  files.labels = labels;
  files.format = labels.empty() ? DatasetFormat::kCsv : DatasetFormat::kNpy;
  constexpr std::string_view kColumn = "column:";
  const std::string column = partition.starts_with(kColumn) ? partition.substr(kColumn.size()) : "";
  if (!column.empty() && !labels.empty()) {
    return invalid_input("partition '" + partition + "' needs a table with columns, not NPY files");
  }
  if (!column.empty()) files.ignore = {column};
  TRY(Dataset all, load_dataset(files, model));
  if (!column.empty()) {
    TRY(all.subjects, column_as_subjects(features, column));
    if (all.subjects.size() != all.size()) {
      return invalid_input(features + ": " + std::to_string(all.subjects.size()) + " rows, but " +
                           std::to_string(all.size()) +
                           " samples; with a column of clients no row may be left out");
    }
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(kSplitSeed);
  random.shuffle(std::span(order));
  const auto test = static_cast<std::size_t>(kTestShare * static_cast<double>(all.size()));
  if (test == 0)
    return invalid_input(features + " has " + std::to_string(all.size()) + " samples, too few to test on");
  const std::vector<std::size_t> held(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(test));
  const std::vector<std::size_t> rest(order.begin() + static_cast<std::ptrdiff_t>(test), order.end());
  return DatasetSplit{subset(all, rest), subset(all, held)};
}

Result<std::string> own_data_digest(const std::string& dataset) {
  const auto [features, labels] = files_of(dataset);
  TRY(const std::string first, read_text_file(features, kLargestFile));
  std::string both = sha256_hex(first);
  if (!labels.empty()) {
    TRY(const std::string second, read_text_file(labels, kLargestFile));
    both = sha256_hex(both + sha256_hex(second));
  }
  return both;
}

}  // namespace aflguard::lab
