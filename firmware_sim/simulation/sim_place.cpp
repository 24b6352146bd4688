#include "firmware_sim/simulation/sim_place.h"

#include "core/system/programs.h"
#include "firmware_sim/boards/image_board.h"
#include "firmware_sim/boards/process_board.h"
#include "firmware_sim/boards/virtual_board.h"
#include "fleet/folder/fleet_folder.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
using namespace sim;

Result<SimulationFolder> simulation_of(const std::string& fleet) {
  std::error_code error;
  const fs::path root = fs::absolute(fleet, error).lexically_normal();
  if (!fs::exists(fleet::FleetFolder{root}.settings(), error)) {
    return not_found(fleet +
                     " is not a fleet folder (it has no fleet.toml); aflguard fleet init makes one, " +
                     "and so does aflguard sim up --with-gateway");
  }
  return SimulationFolder(root);
}

Result<std::unique_ptr<BoardKind>> board_kind(Depth depth, const BoardPlaces& places) {
  TRY(const fs::path own, own_folder());
  // ./run puts programs into build/PRESET/bin, and what boards boot from beside the presets.
  const fs::path build = own.parent_path().parent_path();
  const auto place = [&build](const std::string& named, const char* default_value) {
    return named.empty() ? build / default_value : fs::absolute(named);
  };
  const ClientPrograms arm64{place(places.arm64, "arm64/bin")};
  using Kind = std::unique_ptr<BoardKind>;
  switch (depth) {
    case Depth::kNative:
      return Kind(new ProcessBoard(ProcessBoard::native(ClientPrograms{own})));
    case Depth::kUser:
      return Kind(new ProcessBoard(ProcessBoard::translated(arm64)));
    case Depth::kBoard:
      return Kind(new VirtualBoard(BoardKit{place(places.kit, "board-kit")}));
    case Depth::kImage:
      break;
  }
  return Kind(new ImageBoard(place(places.image, "board.img"), arm64));
}

}  // namespace aflguard::sim
