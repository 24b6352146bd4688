#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"
#include "core/learning/model_package.h"
#include "firmware_sim/local_fleet/fleet_launcher.h"
#include "fleet/folder/fleet_settings.h"
#include "lab/tasks/settings.h"

namespace aflguard::sim {

/// A fleet of client processes on this machine, as a caller wants it.
struct ClientFleetRequest {
  std::string name = {};    ///< the fleet's
  std::string viewer = {};  ///< who may watch it, beside those that every fleet has
  std::string dataset = "mnist";
  std::size_t clients = 10;
  std::size_t malicious = 2;
  std::string attack = "gd";
  std::string guard = "aflguard";
  std::optional<std::uint64_t> updates = {};  ///< default: as many as the data set needs
  std::uint64_t seed = 1;
  bool recording = true;
  std::uint64_t recording_megabytes = 300;  ///< then the recording ends, and the fleet goes on
};

struct FleetClient {
  std::string name;
  bool malicious = false;
  std::size_t samples = 0;
  std::filesystem::path configuration;
};

/// A whole fleet on this machine, ready to start: provisioned, configured, its data dealt out as in the
/// paper's experiments.
struct ClientFleet {
  lab::ExperimentSettings settings;
  ModelPackage package;
  Dataset test;
  fleet::FleetSettings fleet;
  std::filesystem::path folder;  ///< everything of it
  fleet::FleetFolder root;
  std::string attack;                    ///< of malicious clients
  std::filesystem::path leaked_trusted;  ///< for attackers who know the trusted samples
  std::filesystem::path store;
  std::filesystem::path recording;        ///< empty when there is none
  std::uint64_t recording_megabytes = 0;  ///< that it may have
  std::vector<FleetClient> clients;

  /// What runs each client; the programs are in that folder, or beside this program. kNotFound when one is
  /// missing.
  [[nodiscard]] Result<std::vector<ClientCommand>> commands(const std::filesystem::path& programs = {}) const;
};

/// The experiment that the fleet does. kInvalidInput when the request asks for what there is not; before
/// anything is made. The attack's name is the malicious program's business.
[[nodiscard]] Result<lab::ExperimentSettings> fleet_experiment(const ClientFleetRequest& request);

/// Gets the data set if it is not installed, and makes the fleet in `folder`, which exists.
/// kInvalidInput when the request asks for what there is not.
[[nodiscard]] Result<ClientFleet> make_client_fleet(const ClientFleetRequest& request,
                                                    const std::filesystem::path& folder);

}  // namespace aflguard::sim
