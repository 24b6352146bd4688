#pragma once

#include <chrono>
#include <optional>

#include "firmware_sim/boards/board.h"
#include "firmware_sim/local_fleet/sim_data.h"
#include "firmware_sim/simulation/sim_place.h"

namespace aflguard::sim {

struct SimUpOptions {
  std::string fleet;
  sim::BoardRequest order{.attack = "gd"};
  SampleOrigin samples;
  BoardPlaces places;
  bool with_gateway = false;
  bool export_model = false;    ///< every board keeps the newest model as a file beside its state
  std::string predict;          ///< a table that every board predicts with each exported model; may be empty
  double interval_seconds = 1;  ///< at least so long between two updates of a board
  std::chrono::seconds timeout{600};
  bool json = false;
};

/// Enrols the boards that the fleet does not know yet, makes what they run from, starts them, and returns
/// when all are connected. Whatever it started ends again when it fails.
[[nodiscard]] Status sim_up(const SimUpOptions& options);

/// The program behind `aflguard sim links`: carries the boards' bytes until it is told to stop.
[[nodiscard]] Status run_links(const std::string& fleet);

}  // namespace aflguard::sim
