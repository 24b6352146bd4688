#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "firmware_sim/simulation/simulation.h"

namespace aflguard::sim {

/// Starts and ends the programs of a simulation, through its folder, so that a later command knows what runs.
/// The caller holds the folder's lock.
class SimulationControl final {
 public:
  explicit SimulationControl(SimulationFolder folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const SimulationFolder& folder() const { return folder_; }
  [[nodiscard]] bool runs(std::string_view name) const;

  /// Nothing happens when it runs already.
  [[nodiscard]] Status start(std::string_view name, const Command& command) const;
  /// Kills it, as if its power had gone. Nothing happens when it does not run.
  [[nodiscard]] Status kill(std::string_view name) const;

  /// A board gets its power and its network back. kNotFound when there is no such board.
  [[nodiscard]] Status plug(const Board& board) const;
  [[nodiscard]] Status unplug(const Board& board) const { return kill(board.name); }

  /// Names of everything that runs, boards first, and the broker last.
  [[nodiscard]] std::vector<std::string> running() const;
  /// Ends all of it: boards, then their links, the gateway and the broker. Also what a simulation left that
  /// was interrupted. Fails only when something cannot be ended.
  [[nodiscard]] Status stop_everything() const;

 private:
  SimulationFolder folder_;
};

/// kNotFound, with the nearest name, when the simulation has no such board.
[[nodiscard]] Result<const Board*> require_board(const Simulation& simulation, const std::string& name);

}  // namespace aflguard::sim
