#include "tools/aflguard/demo_fleet.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstdio>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/progress.h"
#include "core/base/random.h"
#include "datasets/folders.h"
#include "datasets/install.h"
#include "datasets/load.h"
#include "firmware_sim/byzantine_client/attack.h"
#include "fleet/configuration.h"
#include "fleet/provisioning.h"
#include "fleet/toml_template.h"
#include "fleet_openssl/openssl_authority.h"
#include "lab/experiment_data.h"
#include "lab/streams.h"
#include "lab/zoo_package.h"
#include "tools/aflguard/dataset_export.h"
#include "tools/aflguard/metrics_watch.h"

namespace aflguard::tools {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFleetName = "demo";
constexpr std::size_t kEvaluationSamples = 2000;
constexpr double kBalancedShift = 0.1;  // of ten classes

Result<std::uint16_t> free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool found = listener >= 0 && ::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (listener >= 0) ::close(listener);
  if (!found) return io_error("there is no free port on loopback");
  return ntohs(address.sin_port);
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

Result<std::shared_ptr<const DatasetSplit>> load(const std::string& name) {
  if (name == "synthetic") return std::shared_ptr<const DatasetSplit>();
  StderrProgress progress;
  TRY(const auto data_dir, datasets::data_folder());
  TRY(const auto cache_dir, datasets::cache_folder());
  TRY([[maybe_unused]] const auto installed, datasets::get_dataset(name, {data_dir, cache_dir, progress}));
  progress.finish();
  TRY(auto split, datasets::load_dataset(name, data_dir));
  return std::make_shared<const DatasetSplit>(std::move(split));
}

/// The paper's setting lets a hostile update through now and then: AFLGuard takes whatever is much shorter
/// than the server's own update, and ten times the gradient of a small batch that the model already fits is
/// short. The demo takes what an operator could choose as well: as many trusted samples of each class instead
/// of half of one class, and twice the paper's mini-batch and trusted set, with which the model needs fewer
/// updates, too.
void make_robust(lab::ExperimentSettings& settings) {
  settings.distribution_shift = kBalancedShift;
  settings.batch_size *= 2;
  settings.trusted_size *= 2;
  settings.iterations = settings.iterations * 3 / 4;
}

Result<lab::ExperimentSettings> experiment(const DemoOptions& options) {
  TRY(auto settings, lab::default_settings(options.dataset));
  if (options.malicious > 0) TRY_STATUS(firmware_sim::check_attack(options.attack));
  if (options.malicious > options.clients) {
    return invalid_input(std::to_string(options.malicious) + " malicious of " +
                         std::to_string(options.clients) + " clients; there cannot be more than all");
  }
  TRY(const lab::LabDataset* known, lab::find_lab_dataset(options.dataset));
  if (known->partition == lab::Partition::kByLabel) make_robust(settings);
  settings.clients = options.clients;
  settings.seed = options.seed;
  settings.defense = options.guard;
  settings.attack = options.malicious > 0 ? options.attack : "none";
  settings.malicious = static_cast<double>(options.malicious) / static_cast<double>(options.clients);
  if (options.updates) settings.iterations = *options.updates;
  TRY_STATUS(lab::validate(settings));
  return settings;
}

std::vector<bool> draw_byzantine(const DemoOptions& options) {
  std::vector<bool> byzantine(options.clients, false);
  Random random(options.seed, lab::kMaliciousStream);
  for (const std::size_t chosen : random.sample_without_replacement(options.clients, options.malicious)) {
    byzantine[chosen] = true;
  }
  return byzantine;
}

std::string gateway_text(const FleetSettings& fleet, const lab::ExperimentSettings& settings,
                         const std::vector<std::string>& trusted, std::vector<std::string> evaluation,
                         const DemoOptions& options) {
  evaluation.push_back("interval_seconds = 2");
  evaluation.push_back("samples = " + std::to_string(kEvaluationSamples));
  TomlTemplate text(gateway_configuration(fleet));
  text.set("model", "seed", std::to_string(settings.seed))
      .set("training", "learning_rate", number(settings.learning_rate))
      .set("training", "batch_size", std::to_string(settings.batch_size))
      .set("guard", "name", toml_text(settings.defense))
      .set("guard", "lambda", number(settings.lambda))
      .set("guard", "reference_interval", std::to_string(std::max<std::uint64_t>(1, settings.server_delay)))
      .set("guard", "reference_share", "1")  // a show of the guard, not of speed: no server update is put off
      .replace_section("trusted", trusted)
      .replace_section("evaluation", evaluation);
  if (options.recording) {
    text.set("recording", "folder", toml_text("../recording"))
        .set("recording", "max_megabytes", std::to_string(options.recording_megabytes));
  }
  return text.text();
}

std::string client_text(const FleetSettings& fleet, const DemoOptions& options, const std::string& name,
                        std::size_t index, const std::vector<std::string>& data) {
  return TomlTemplate(client_configuration(fleet, name))
      .replace_section("data", data)
      .set("model", "package", toml_text("../../model"))
      .set("state", "folder", toml_text("state"))
      .set("training", "seed", std::to_string(options.seed * 1000 + index))
      .text();
}

Result<Fleet> provision(const FleetSettings& settings, const fs::path& root, OpensslAuthority& authority,
                        const SystemClock& clock) {
  TRY_STATUS(create_fleet(root, settings, authority, std::nullopt, clock));
  TRY(auto fleet, Fleet::open(root));
  TRY_STATUS(fleet.add_viewer(MetricsWatch::kViewer, std::nullopt, authority, clock));
  return fleet;
}

}  // namespace

Status check_demo(const DemoOptions& options) {
  TRY([[maybe_unused]] const auto settings, experiment(options));
  return {};
}

Result<DemoFleet> make_demo_fleet(const DemoOptions& options, const fs::path& folder) {
  DemoFleet demo;
  TRY(demo.settings, experiment(options));
  TRY(const auto source, load(options.dataset));
  TRY(auto data, lab::prepare_data(demo.settings, source));
  TRY(demo.package, lab::zoo_package_for(options.dataset));
  demo.test = *data.test;
  demo.folder = folder;
  const SystemClock clock;
  demo.fleet.name = kFleetName;
  TRY(demo.fleet.broker_port, free_port());
  TRY(auto authority, OpensslAuthority::create(kFleetName, clock.wall() - kCertificateBackdating,
                                               clock.wall() + kAuthorityLifetime));
  const fs::path root = folder / "fleet";
  TRY(auto fleet, provision(demo.fleet, root, authority, clock));
  TRY_STATUS(write_model_package(demo.package, fleet.folder().model(), /*replace=*/false));
  std::error_code error;
  const fs::path files = folder / "data";
  fs::create_directory(files, error);
  TRY(const auto trusted, export_dataset(data.trusted, files, "trusted"));
  TRY(const auto evaluation, export_dataset(*data.test, files, "test"));
  demo.broker_configuration = fleet.folder().broker() / "mosquitto.conf";
  demo.gateway_configuration = fleet.folder().gateway() / "gateway.toml";
  demo.store = fleet.folder().gateway() / "state/gateway.db";
  if (options.recording) demo.recording = root / "recording";
  demo.recording_megabytes = options.recording_megabytes;
  TRY_STATUS(write_file_atomically(demo.gateway_configuration,
                                   gateway_text(demo.fleet, demo.settings, trusted, evaluation, options)));
  const std::vector<bool> byzantine = draw_byzantine(options);
  for (std::size_t i = 0; i < options.clients; ++i) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "pi-%02zu", i + 1);
    const Dataset own = lab::subset(*data.train, data.shares[i]);
    if (own.size() == 0) {
      return invalid_input("client " + std::to_string(i + 1) + " of " + std::to_string(options.clients) +
                           " would get no data of '" + options.dataset + "'; choose fewer clients");
    }
    TRY(const auto lines, export_dataset(own, files, name.data()));
    TRY_STATUS(fleet.add_device({name.data(), {}, {}}, authority, clock));
    const fs::path configuration = fleet.folder().device(name.data()) / "client.toml";
    TRY_STATUS(write_file_atomically(configuration, client_text(demo.fleet, options, name.data(), i, lines)));
    demo.devices.push_back({name.data(), byzantine[i], own.size(), configuration});
  }
  return demo;
}

}  // namespace aflguard::tools
