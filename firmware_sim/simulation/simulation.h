#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/system/folder_lock.h"
#include "firmware_sim/boards/board.h"
#include "firmware_sim/links/board_link.h"
#include "firmware_sim/local_fleet/program_host.h"
#include "firmware_sim/simulation/detached_process.h"

namespace aflguard::sim {

/// The programs of a simulation beside its boards. No board has their names.
inline constexpr std::string_view kBrokerService = kBrokerProgram;
inline constexpr std::string_view kGatewayService = kGatewayProgram;
inline constexpr std::string_view kLinksService = "links";

struct Service {
  std::string name;
  Command command;

  friend bool operator==(const Service&, const Service&) = default;
};

/// A simulation, as it was asked for and set up: simulation.json.
struct Simulation {
  std::string fleet;  ///< its name
  std::string data;   ///< where the boards' samples are from
  std::uint64_t seed = 1;
  std::string broker_host;
  std::uint16_t broker_port = 0;
  std::vector<Service> services;  ///< in the order of their start
  std::vector<Board> boards;

  [[nodiscard]] const Service* find_service(std::string_view name) const;
  friend bool operator==(const Simulation&, const Simulation&) = default;
};

/// What is known of one of its programs.
struct ProcessNote {
  ProcessMark mark;
  bool unplugged = false;  ///< it was told to end

  friend bool operator==(const ProcessNote&, const ProcessNote&) = default;
};

/// The folder `sim` of a fleet: everything that a simulation leaves on disk. To change something, hold the
/// lock; readers do not need it, because files are replaced whole.
class SimulationFolder final {
 public:
  explicit SimulationFolder(const std::filesystem::path& fleet_root) : root_(fleet_root / "sim") {}

  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path logs() const { return root_ / "logs"; }
  [[nodiscard]] std::filesystem::path log(std::string_view name) const {
    return logs() / (std::string(name) + ".log");
  }
  [[nodiscard]] std::filesystem::path board(std::string_view name) const { return root_ / "boards" / name; }
  [[nodiscard]] std::filesystem::path link_state(std::string_view board_name) const {
    return board(board_name) / "link";
  }

  /// Makes the folder when it is missing, and waits until no other program changes anything in it.
  [[nodiscard]] Result<FolderLock> lock() const { return FolderLock::acquire(root_); }

  /// kNotFound when there never was a simulation, kCorrupt when the file is damaged.
  [[nodiscard]] Result<Simulation> read() const;
  [[nodiscard]] Status write(const Simulation& simulation) const;

  /// None when it was never started, or was ended by `forget`.
  [[nodiscard]] std::optional<ProcessNote> process(std::string_view name) const;
  [[nodiscard]] Status remember(std::string_view name, const ProcessNote& note) const;
  void forget(std::string_view name) const;

  [[nodiscard]] LinkState read_link(std::string_view board_name) const;
  [[nodiscard]] Status write_link(std::string_view board_name, const LinkState& state) const;

 private:
  [[nodiscard]] std::filesystem::path simulation_file() const { return root_ / "simulation.json"; }
  [[nodiscard]] std::filesystem::path process_file(std::string_view name) const {
    return root_ / "processes" / (std::string(name) + ".json");
  }
  std::filesystem::path root_;
};

}  // namespace aflguard::sim
