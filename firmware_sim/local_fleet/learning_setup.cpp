#include "firmware_sim/local_fleet/learning_setup.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/progress.h"
#include "datasets/folders.h"
#include "datasets/install.h"
#include "datasets/load.h"
#include "fleet/folder/configuration.h"
#include "fleet/folder/toml_template.h"

namespace aflguard::sim {
namespace {

constexpr std::size_t kEvaluationSamples = 2000;
constexpr double kBalancedShift = 0.1;  // of ten classes

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

/// The paper's setting lets a malicious update through now and then: AFLGuard takes whatever is much shorter
/// than the server's own update, and ten times the gradient of a small batch that the model already fits is
/// short. A fleet takes what an operator could choose as well: as many trusted samples of each class instead
/// of half of one class, and twice the paper's mini-batch and trusted set, with which the model needs fewer
/// updates, too.
void make_robust(lab::ExperimentSettings& settings) {
  settings.distribution_shift = kBalancedShift;
  settings.batch_size *= 2;
  settings.trusted_size *= 2;
  settings.iterations = settings.iterations * 3 / 4;
}

}  // namespace

Result<lab::ExperimentSettings> fleet_settings_for(const std::string& dataset) {
  TRY(auto settings, lab::default_settings(dataset));
  TRY(const lab::LabDataset* known, lab::find_lab_dataset(dataset));
  if (known->partition == lab::Partition::kByLabel) make_robust(settings);
  return settings;
}

Result<std::shared_ptr<const DatasetSplit>> get_source(const std::string& dataset) {
  if (dataset == "synthetic") return std::shared_ptr<const DatasetSplit>();
  StderrProgress progress;
  TRY(const auto data_dir, datasets::data_folder());
  TRY(const auto cache_dir, datasets::cache_folder());
  TRY([[maybe_unused]] const auto installed, datasets::get_dataset(dataset, {data_dir, cache_dir, progress}));
  progress.finish();
  TRY(auto split, datasets::load_dataset(dataset, data_dir));
  return std::make_shared<const DatasetSplit>(std::move(split));
}

std::string learning_gateway_text(const fleet::FleetSettings& fleet, const lab::ExperimentSettings& settings,
                                  const std::vector<std::string>& trusted,
                                  std::vector<std::string> evaluation) {
  evaluation.push_back("interval_seconds = 2");
  evaluation.push_back("samples = " + std::to_string(kEvaluationSamples));
  return fleet::TomlTemplate(fleet::gateway_configuration(fleet))
      .set("model", "seed", std::to_string(settings.seed))
      .set("training", "learning_rate", number(settings.learning_rate))
      .set("training", "batch_size", std::to_string(settings.batch_size))
      .set("guard", "name", fleet::toml_text(settings.guard))
      .set("guard", "lambda", number(settings.lambda))
      .set("guard", "reference_interval", std::to_string(std::max<std::uint64_t>(1, settings.server_delay)))
      .set("guard", "reference_share",
           "1")  // a show of the guard, not of speed: no reference update is put off
      .replace_section("trusted", trusted)
      .replace_section("evaluation", evaluation)
      .text();
}

}  // namespace aflguard::sim
