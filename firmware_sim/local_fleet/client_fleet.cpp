#include "firmware_sim/local_fleet/client_fleet.h"

#include <array>
#include <cstdio>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/system/atomic_file.h"
#include "core/system/free_port.h"
#include "firmware_sim/links/link_relay.h"
#include "firmware_sim/local_fleet/dataset_export.h"
#include "firmware_sim/local_fleet/learning_setup.h"
#include "firmware_sim/local_fleet/new_fleet.h"
#include "fleet/folder/configuration.h"
#include "fleet/folder/toml_template.h"
#include "lab/tasks/experiment_data.h"
#include "lab/tasks/streams.h"
#include "lab/tasks/zoo_package.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

std::vector<bool> draw_malicious(const ClientFleetRequest& request) {
  std::vector<bool> malicious(request.clients, false);
  Random random(request.seed, lab::kMaliciousStream);
  for (const std::size_t chosen : random.sample_without_replacement(request.clients, request.malicious)) {
    malicious[chosen] = true;
  }
  return malicious;
}

std::string gateway_text(const fleet::FleetSettings& fleet, const lab::ExperimentSettings& settings,
                         const std::vector<std::string>& trusted, const std::vector<std::string>& evaluation,
                         const ClientFleetRequest& request) {
  const std::string text = learning_gateway_text(fleet, settings, trusted, evaluation);
  if (!request.recording) return text;
  return fleet::TomlTemplate(text)
      .set("recording", "folder", fleet::toml_text("../recording"))
      .set("recording", "max_megabytes", std::to_string(request.recording_megabytes))
      .text();
}

std::string client_text(const fleet::FleetSettings& fleet, const ClientFleetRequest& request,
                        const std::string& name, std::size_t index, const std::vector<std::string>& data) {
  return fleet::TomlTemplate(fleet::client_configuration(fleet, name))
      .replace_section("data", data)
      .set("model", "package", fleet::toml_text("../../model"))
      .set("state", "folder", fleet::toml_text("state"))
      .set("training", "seed", std::to_string(request.seed * 1000 + index))
      .text();
}

/// Of what attackers may know.
Result<fs::path> write_leaked(const std::vector<std::string>& trusted, const fs::path& folder) {
  std::string leaked = "[trusted]\n";
  for (const std::string& line : trusted) leaked += line + "\n";
  const fs::path file = folder / "leaked-trusted.toml";
  TRY_STATUS(write_file_atomically(file, leaked));
  return file;
}

/// Enrols a client for every share of the data, and writes what it needs.
Status add_clients(const ClientFleetRequest& request, const lab::ExperimentData& data, const fs::path& files,
                   fleet::Fleet& fleet, fleet::CertificateAuthority& authority, const Clock& clock,
                   ClientFleet& made) {
  const std::vector<bool> malicious = draw_malicious(request);
  for (std::size_t i = 0; i < request.clients; ++i) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "pi-%02zu", i + 1);
    const Dataset own = subset(*data.train, data.shares[i]);
    if (own.size() == 0) {
      return invalid_input("client " + std::to_string(i + 1) + " of " + std::to_string(request.clients) +
                           " would get no data of '" + request.dataset + "'; choose fewer clients");
    }
    TRY(const auto lines, export_dataset(own, files, name.data(), files));
    TRY_STATUS(fleet.add_device({name.data(), {}, {}}, authority, clock));
    const fs::path configuration = fleet.folder().device(name.data()) / "client.toml";
    TRY_STATUS(write_file_atomically(configuration, client_text(made.fleet, request, name.data(), i, lines)));
    made.clients.push_back({name.data(), malicious[i], own.size(), configuration});
  }
  return {};
}

}  // namespace

Result<lab::ExperimentSettings> fleet_experiment(const ClientFleetRequest& request) {
  TRY(auto settings, fleet_settings_for(request.dataset));
  if (request.malicious > request.clients) {
    return invalid_input(std::to_string(request.malicious) + " malicious of " +
                         std::to_string(request.clients) + " clients; there cannot be more than all");
  }
  settings.clients = request.clients;
  settings.seed = request.seed;
  settings.guard = request.guard;
  settings.attack = request.malicious > 0 ? request.attack : "none";
  settings.malicious = static_cast<double>(request.malicious) / static_cast<double>(request.clients);
  if (request.updates) settings.iterations = *request.updates;
  TRY_STATUS(lab::validate(settings));
  return settings;
}

Result<ClientFleet> make_client_fleet(const ClientFleetRequest& request, const fs::path& folder) {
  ClientFleet made;
  TRY(made.settings, fleet_experiment(request));
  TRY(const auto source, get_source(request.dataset));
  TRY(const auto data, lab::prepare_data(made.settings, source));
  TRY(made.package, lab::zoo_package_for(request.dataset));
  made.test = *data.test;
  made.folder = folder;
  made.root.root = folder / "fleet";
  made.attack = request.attack;
  made.fleet.name = request.name;
  TRY(made.fleet.broker_port, free_loopback_port());
  const SystemClock clock;
  TRY(auto authority, provision_fleet(made.root.root, made.fleet, std::nullopt, clock));
  TRY(auto fleet, fleet::Fleet::open(made.root.root));
  if (!request.viewer.empty()) TRY_STATUS(fleet.add_viewer(request.viewer, std::nullopt, authority, clock));
  TRY_STATUS(write_model_package(made.package, made.root.model(), /*replace=*/false));
  std::error_code error;
  const fs::path files = folder / "data";
  fs::create_directory(files, error);
  TRY(const auto trusted, export_dataset(data.trusted, files, "trusted", files));
  TRY(const auto evaluation, export_dataset(*data.test, files, "test", files));
  TRY(made.leaked_trusted, write_leaked(trusted, files));
  made.store = made.root.gateway() / "state/gateway.db";
  if (request.recording) made.recording = made.root.root / "recording";
  made.recording_megabytes = request.recording_megabytes;
  TRY_STATUS(write_file_atomically(made.root.gateway() / "gateway.toml",
                                   gateway_text(made.fleet, made.settings, trusted, evaluation, request)));
  TRY_STATUS(add_clients(request, data, files, fleet, authority, clock, made));
  return made;
}

Result<std::vector<ClientCommand>> ClientFleet::commands(const fs::path& programs) const {
  TRY(const fs::path honest, fleet_program("aflguard-client", programs));
  TRY(const fs::path malicious, fleet_program("aflguard-byzantine-client", programs));
  std::vector<ClientCommand> found;
  for (const FleetClient& client : clients) {
    ClientCommand command{
        client.name,
        {(client.malicious ? malicious : honest).string(), "--config", client.configuration.string()}};
    if (client.malicious) {
      command.arguments.insert(command.arguments.end(),
                               {"--attack", attack, "--trusted", leaked_trusted.string()});
    }
    found.push_back(std::move(command));
  }
  return found;
}

}  // namespace aflguard::sim
