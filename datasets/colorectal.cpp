#include "datasets/colorectal.h"

#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/learning/data/csv.h"
#include "core/learning/data/idx.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFileName = "hmnist_64_64_L.csv";

Status write_part(const Dataset& data, const fs::path& target, const std::string& part) {
  const std::vector<std::uint8_t> labels(data.labels.begin(), data.labels.end());
  TRY_STATUS(write_idx(target / (part + "-images-idx3-ubyte"),
                       {data.size(), data.sample_shape[1], data.sample_shape[2]},
                       std::get<std::vector<std::uint8_t>>(data.features)));
  return write_idx(target / (part + "-labels-idx1-ubyte"), {data.size()}, labels);
}

}  // namespace

Status import_colorectal(const DatasetInfo& info, const fs::path& csv, const fs::path& target,
                         Progress& progress) {
  const std::size_t count = info.train + info.test;
  CsvOptions options;
  options.label_column = "label";
  options.classes = info.classes;
  options.first_label = 1;
  options.pixels = true;
  options.sample_shape = info.sample_shape;
  options.limits.rows = count + 1;
  std::error_code error;
  const fs::path path = fs::is_directory(csv, error) ? csv / kFileName : csv;
  progress.show("reading " + info.name, 0, 0);
  TRY(const Dataset all, read_csv_dataset(info.name, path, options));
  if (all.size() != count) {
    return corrupt(path.string() + " has " + std::to_string(all.size()) + " images, expected " +
                   std::to_string(count));
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random(kColorectalSplitSeed).shuffle(std::span(order));
  TRY_STATUS(write_part(all.select(std::span(order).first(info.train)), target, "train"));
  return write_part(all.select(std::span(order).subspan(info.train)), target, "t10k");
}

}  // namespace aflguard::datasets
