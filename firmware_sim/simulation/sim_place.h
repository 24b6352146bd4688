#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "firmware_sim/boards/board_kind.h"
#include "firmware_sim/simulation/simulation.h"

namespace aflguard::sim {

/// The folder of the fleet that verbs work on, made absolute, and its simulation's. kNotFound when it is not
/// a fleet's folder.
[[nodiscard]] Result<sim::SimulationFolder> simulation_of(const std::string& fleet);

/// Where the programs for boards are; empty: beside this program, as ./run builds them.
struct BoardPlaces {
  std::string arm64;  ///< folder of the arm64 programs
  std::string kit;    ///< what virtual boards boot from
  std::string image;  ///< the card image that boards of depth `image` boot
};

/// The kind of boards of a depth.
[[nodiscard]] Result<std::unique_ptr<sim::BoardKind>> board_kind(sim::Depth depth, const BoardPlaces& places);

}  // namespace aflguard::sim
