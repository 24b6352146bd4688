#include "tools/aflguard/demo/demo_fleet.h"

#include <array>
#include <cstdio>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/system/atomic_file.h"
#include "firmware_sim/byzantine_client/attack.h"
#include "firmware_sim/links/link_relay.h"
#include "firmware_sim/local_fleet/dataset_export.h"
#include "firmware_sim/local_fleet/learning_setup.h"
#include "fleet/folder/configuration.h"
#include "fleet/folder/toml_template.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning_openssl/openssl_authority.h"
#include "lab/tasks/experiment_data.h"
#include "lab/tasks/streams.h"
#include "lab/tasks/zoo_package.h"

namespace aflguard::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFleetName = "demo";

Result<lab::ExperimentSettings> experiment(const DemoOptions& options) {
  TRY(auto settings, sim::fleet_settings_for(options.dataset));
  if (options.malicious > 0) TRY_STATUS(sim::check_attack(options.attack));
  if (options.malicious > options.clients) {
    return invalid_input(std::to_string(options.malicious) + " malicious of " +
                         std::to_string(options.clients) + " clients; there cannot be more than all");
  }
  settings.clients = options.clients;
  settings.seed = options.seed;
  settings.guard = options.guard;
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

std::string gateway_text(const fleet::FleetSettings& fleet, const lab::ExperimentSettings& settings,
                         const std::vector<std::string>& trusted, const std::vector<std::string>& evaluation,
                         const DemoOptions& options) {
  const std::string text = sim::learning_gateway_text(fleet, settings, trusted, evaluation);
  if (!options.recording) return text;
  return fleet::TomlTemplate(text)
      .set("recording", "folder", fleet::toml_text("../recording"))
      .set("recording", "max_megabytes", std::to_string(options.recording_megabytes))
      .text();
}

std::string client_text(const fleet::FleetSettings& fleet, const DemoOptions& options,
                        const std::string& name, std::size_t index, const std::vector<std::string>& data) {
  return fleet::TomlTemplate(fleet::client_configuration(fleet, name))
      .replace_section("data", data)
      .set("model", "package", fleet::toml_text("../../model"))
      .set("state", "folder", fleet::toml_text("state"))
      .set("training", "seed", std::to_string(options.seed * 1000 + index))
      .text();
}

Result<fleet::Fleet> provision(const fleet::FleetSettings& settings, const fs::path& root,
                               fleet::OpensslAuthority& authority, const SystemClock& clock) {
  TRY_STATUS(fleet::create_fleet(root, settings, authority, std::nullopt, clock));
  TRY(auto fleet, fleet::Fleet::open(root));
  TRY_STATUS(fleet.add_viewer(kDemoViewer, std::nullopt, authority, clock));
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
  TRY(const auto source, sim::get_source(options.dataset));
  TRY(auto data, lab::prepare_data(demo.settings, source));
  TRY(demo.package, lab::zoo_package_for(options.dataset));
  demo.test = *data.test;
  demo.folder = folder;
  const SystemClock clock;
  demo.fleet.name = kFleetName;
  TRY(demo.fleet.broker_port, sim::free_loopback_port());
  TRY(auto authority,
      fleet::OpensslAuthority::create(kFleetName, clock.wall() - fleet::kCertificateBackdating,
                                      clock.wall() + fleet::kAuthorityLifetime));
  const fs::path root = folder / "fleet";
  TRY(auto fleet, provision(demo.fleet, root, authority, clock));
  TRY_STATUS(write_model_package(demo.package, fleet.folder().model(), /*replace=*/false));
  std::error_code error;
  const fs::path files = folder / "data";
  fs::create_directory(files, error);
  TRY(const auto trusted, sim::export_dataset(data.trusted, files, "trusted", files));
  TRY(const auto evaluation, sim::export_dataset(*data.test, files, "test", files));
  std::string leaked = "[trusted]\n";
  for (const std::string& line : trusted) leaked += line + "\n";
  demo.leaked_trusted = files / "leaked-trusted.toml";
  TRY_STATUS(write_file_atomically(demo.leaked_trusted, leaked));
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
    const Dataset own = subset(*data.train, data.shares[i]);
    if (own.size() == 0) {
      return invalid_input("client " + std::to_string(i + 1) + " of " + std::to_string(options.clients) +
                           " would get no data of '" + options.dataset + "'; choose fewer clients");
    }
    TRY(const auto lines, sim::export_dataset(own, files, name.data(), files));
    TRY_STATUS(fleet.add_device({name.data(), {}, {}}, authority, clock));
    const fs::path configuration = fleet.folder().device(name.data()) / "client.toml";
    TRY_STATUS(write_file_atomically(configuration, client_text(demo.fleet, options, name.data(), i, lines)));
    demo.devices.push_back({name.data(), byzantine[i], own.size(), configuration});
  }
  return demo;
}

}  // namespace aflguard::cli
