#include "tools/aflguard/sim_place.h"

#include "firmware_sim/process_board.h"
#include "firmware_sim/virtual_board.h"
#include "fleet/fleet_folder.h"
#include "tools/aflguard/own_programs.h"

namespace aflguard::tools {
namespace fs = std::filesystem;
using firmware_sim::BoardKind;
using firmware_sim::Depth;

Result<firmware_sim::SimulationFolder> simulation_of(const std::string& fleet) {
  std::error_code error;
  const fs::path root = fs::absolute(fleet, error).lexically_normal();
  if (!fs::exists(FleetFolder{root}.settings(), error)) {
    return not_found(fleet + " is no fleet's folder (it has no fleet.toml); aflguard fleet init makes one, " +
                     "and so does aflguard sim up --with-gateway");
  }
  return firmware_sim::SimulationFolder(root);
}

Result<std::unique_ptr<BoardKind>> board_kind(Depth depth, const BoardPlaces& places) {
  TRY(const fs::path own, own_folder());
  // ./run puts programs into build/PRESET/bin.
  const fs::path build = own.parent_path().parent_path();
  std::error_code error;
  const fs::path arm64 = places.arm64.empty() ? build / "arm64/bin" : fs::absolute(places.arm64, error);
  switch (depth) {
    case Depth::kNative:
      return std::unique_ptr<BoardKind>(new firmware_sim::ProcessBoard(
          firmware_sim::ProcessBoard::native(firmware_sim::ClientPrograms{own})));
    case Depth::kUser:
      return std::unique_ptr<BoardKind>(new firmware_sim::ProcessBoard(
          firmware_sim::ProcessBoard::translated(firmware_sim::ClientPrograms{arm64})));
    case Depth::kBoard:
      return std::unique_ptr<BoardKind>(new firmware_sim::VirtualBoard(firmware_sim::BoardKit{
          places.kit.empty() ? build / "board-kit" : fs::absolute(places.kit, error)}));
    case Depth::kImage:
      break;
  }
  return unsupported("boards of depth 'image' are not there yet; --depth board is the nearest");
}

}  // namespace aflguard::tools
