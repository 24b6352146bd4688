#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "firmware_sim/boards/board_log.h"
#include "firmware_sim/simulation/ledger_check.h"
#include "firmware_sim/simulation/simulation.h"
#include "gateway_server/store/store_reader.h"

namespace aflguard::sim {

/// How one board does.
struct BoardState {
  sim::Board board;
  std::string state;  ///< "running", "starved", "unplugged", or "ended" when it ended by itself
  std::optional<pid_t> pid;
  sim::LinkState link;
  sim::BoardLog log;                           ///< what it knows
  std::optional<gateway::DeviceTally> judged;  ///< what the gateway's store says
};

struct ServiceState {
  std::string name;
  std::optional<pid_t> pid;  ///< none: it does not run
  std::string log;
};

struct SimulationState {
  sim::Simulation simulation;
  std::vector<ServiceState> services;
  std::vector<BoardState> boards;
  std::optional<std::uint64_t> version;  ///< of the gateway's model

  [[nodiscard]] bool running() const;
};

[[nodiscard]] Result<SimulationState> look_at(const sim::SimulationFolder& folder);
[[nodiscard]] nlohmann::ordered_json to_json(const SimulationState& state,
                                             const sim::SimulationFolder& folder);
void print(const SimulationState& state);

/// The store of the fleet's gateway. kNotFound when there is none on this machine.
[[nodiscard]] Result<gateway::StoreReader> open_history(const sim::SimulationFolder& folder);

/// Holds what the boards know against what the gateway has stored.
[[nodiscard]] Result<sim::LedgerReport> verify(const sim::SimulationFolder& folder);
[[nodiscard]] nlohmann::ordered_json to_json(const sim::LedgerReport& report);

}  // namespace aflguard::sim
