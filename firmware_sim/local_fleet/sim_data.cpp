#include "firmware_sim/local_fleet/sim_data.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/identifier.h"
#include "core/base/random.h"
#include "core/learning/data/shape.h"
#include "core/learning/dataset_files.h"
#include "core/learning/model_package.h"
#include "core/system/atomic_file.h"
#include "core/system/free_port.h"
#include "firmware_sim/local_fleet/dataset_export.h"
#include "firmware_sim/local_fleet/learning_setup.h"
#include "firmware_sim/local_fleet/new_fleet.h"
#include "lab/tasks/experiment_data.h"
#include "lab/tasks/streams.h"
#include "lab/tasks/zoo_package.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

constexpr double kNonIid = 0.5;  // as in the paper's experiments

Result<lab::ExperimentData> prepare(const std::string& dataset, std::size_t boards, std::uint64_t seed,
                                    lab::ExperimentSettings& settings) {
  TRY(settings, fleet_settings_for(dataset));
  settings.clients = boards;
  settings.seed = seed;
  settings.malicious = 0;
  TRY_STATUS(lab::validate(settings));
  TRY(const auto source, get_source(dataset));
  return lab::prepare_data(settings, source);
}

/// The file in `folder` whose name ends so; empty when there is none.
fs::path file_ending(const fs::path& folder, const std::string& end) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), last; !error && it != last; it.increment(error)) {
    if (it->path().filename().string().ends_with(end)) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found.empty() ? fs::path() : found.front();
}

Result<DatasetFiles> find_files(const SampleOrigin& origin) {
  const fs::path& own = origin.own;
  std::error_code error;
  DatasetFiles files = origin.table;
  files.features = own;
  if (fs::is_regular_file(own, error)) return files;  // a table
  if (!fs::is_directory(own, error))
    return not_found("there is no " + own.string() + "; --data takes a CSV file or a folder");
  files.features = own / "samples.csv";
  if (fs::exists(files.features, error)) return files;
  files.labels = own / "labels.npy";
  files.format = DatasetFormat::kNpy;
  files.features = own / "features.npy";
  if (fs::exists(files.features, error)) return files;
  files.format = DatasetFormat::kIdx;
  files.features = file_ending(own, "-images-idx3-ubyte");
  files.labels = file_ending(own, "-labels-idx1-ubyte");
  if (!files.features.empty() && !files.labels.empty()) return files;
  return not_found(own.string() +
                   " has no samples.csv, no features.npy, and no *-images-idx3-ubyte with its labels");
}

Result<std::vector<Dataset>> deal_own(const SampleOrigin& origin, std::size_t boards,
                                      const ModelDescription& model) {
  TRY(const DatasetFiles files, find_files(origin));
  TRY(const Dataset all, load_dataset(files, model));
  Random random(origin.seed, lab::kPartitionStream);
  const Shares shares =
      all.regression() ? share_iid(all.size(), boards, random) : share_by_label(all, boards, kNonIid, random);
  std::vector<Dataset> dealt;
  for (const auto& share : shares) dealt.push_back(subset(all, share));
  return dealt;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

Status check_fit(const Dataset& data, const ModelDescription& model, const std::string& name) {
  const bool fits =
      data.sample_size() == model.input_size() &&
      (data.regression() ? model.loss == Loss::kMeanSquaredError
                         : model.loss == Loss::kCrossEntropy && data.classes <= model.classes());
  if (fits) return {};
  return invalid_input("data set '" + name + "' (samples of " + shape_text(data.sample_shape) + ", " +
                       std::to_string(data.classes) + " classes) does not fit the fleet's model '" +
                       model.name + "' (" + shape_text(model.input_shape) + ", " +
                       std::to_string(model.classes()) +
                       " classes); choose another with --dataset, or your own samples with --data");
}

}  // namespace

Result<std::vector<Dataset>> deal_samples(const SampleOrigin& origin, std::size_t boards,
                                          const ModelDescription& model) {
  std::vector<Dataset> dealt;
  if (origin.own.empty()) {
    lab::ExperimentSettings settings;
    TRY(const auto data, prepare(origin.dataset, boards, origin.seed, settings));
    TRY_STATUS(check_fit(*data.train, model, origin.dataset));
    for (const auto& share : data.shares) dealt.push_back(subset(*data.train, share));
  } else {
    TRY(dealt, deal_own(origin, boards, model));
  }
  for (std::size_t i = 0; i < dealt.size(); ++i) {
    if (dealt[i].size() > 0) continue;
    return invalid_input("board " + std::to_string(i + 1) + " of " + std::to_string(boards) +
                         " would get no samples of " + origin.text() + "; simulate fewer boards");
  }
  return dealt;
}

Status make_learning_fleet(const fs::path& root, const std::string& dataset, std::size_t boards,
                           std::uint64_t seed) {
  lab::ExperimentSettings settings;
  TRY(const auto data, prepare(dataset, boards, seed, settings));
  TRY(const ModelPackage package, lab::zoo_package_for(dataset));
  const SystemClock clock;
  fleet::FleetSettings fleet;
  fleet.name = "sim";
  TRY(fleet.broker_port, free_loopback_port());
  const auto authority =
      provision_fleet(root, fleet, std::nullopt, clock, [&](const fleet::FleetFolder& made) -> Status {
        TRY_STATUS(write_model_package(package, made.model(), /*replace=*/false));
        TRY(const auto trusted, export_dataset(data.trusted, made.gateway(), "trusted", {}));
        TRY(const auto evaluation, export_dataset(*data.test, made.gateway(), "test", {}));
        return write_file_atomically(made.gateway() / "gateway.toml",
                                     learning_gateway_text(fleet, settings, trusted, evaluation));
      });
  if (!authority.ok()) return authority.error();
  return {};
}

}  // namespace aflguard::sim
