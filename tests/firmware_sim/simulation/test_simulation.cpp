#include <unistd.h>

#include "core/system/atomic_file.h"
#include "firmware_sim/simulation/simulation.h"
#include "firmware_sim/simulation/simulation_control.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;
using testing::message_of;

namespace {

Simulation example(const SimulationFolder& folder) {
  Simulation simulation;
  simulation.fleet = "greenhouse";
  simulation.data = "mnist";
  simulation.seed = 9;
  simulation.broker_host = "localhost";
  simulation.broker_port = 8883;
  simulation.services = {{"links", {{"sleep", "600"}, "/", folder.log("links")}}};
  Board board;
  board.name = "sim-01";
  board.depth = Depth::kNative;
  board.attack = "gd";
  board.samples = 12;
  board.link_port = 1234;
  board.command = {{"sleep", "600"}, "/", folder.log("sim-01")};
  simulation.boards = {board};
  return simulation;
}

}  // namespace

TEST("A simulation is read back as it was written") {
  const testing::TemporaryFolder fleet;
  const SimulationFolder folder(fleet.path());
  ASSERT_CONTAINS(message_of(folder.read()), "this fleet has no simulation");
  ASSERT_OK(folder.write(example(folder)));
  const auto read = folder.read();
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read == example(folder));
}

TEST("A damaged file is named, whatever is wrong with it") {
  const testing::TemporaryFolder fleet;
  const SimulationFolder folder(fleet.path());
  ASSERT_OK(folder.write(example(folder)));
  const std::filesystem::path file = folder.root() / "simulation.json";
  const std::string whole = read_text_file(file).value();
  for (const std::string& text : {std::string(), std::string("{}"), whole.substr(0, whole.size() / 2),
                                  std::string("[1,2]"), std::string("{\"schema\": \"other\"}")}) {
    ASSERT_OK(write_file_atomically(file, text));
    const auto read = folder.read();
    TEST_ASSERT_FALSE(read.ok());
    ASSERT_CONTAINS(read.error().message, "simulation.json");
  }
}

TEST("Links are open until someone says otherwise") {
  const testing::TemporaryFolder fleet;
  const SimulationFolder folder(fleet.path());
  TEST_ASSERT_FALSE(folder.read_link("sim-01").starved());
  ASSERT_OK(folder.write_link("sim-01", {.cut = true}));
  TEST_ASSERT_TRUE(folder.read_link("sim-01").cut);
}

TEST("What one process has started another one ends, boards first") {
  const testing::TemporaryFolder fleet;
  const SimulationFolder folder(fleet.path());
  const Simulation simulation = example(folder);
  const Board& board = simulation.boards.front();
  const SimulationControl starter(folder);
  ASSERT_OK(starter.start("links", simulation.services.front().command));
  ASSERT_OK(starter.plug(board));
  const auto first = folder.process("sim-01");
  ASSERT_OK(starter.plug(board));  // it runs already
  TEST_ASSERT_TRUE(*first == *folder.process("sim-01"));

  const SimulationControl other(folder);
  const auto running = other.running();
  TEST_ASSERT_EQUAL_size_t(2, running.size());
  TEST_ASSERT_EQUAL_STRING("sim-01", running[0].c_str());
  TEST_ASSERT_EQUAL_STRING("links", running[1].c_str());
  ASSERT_OK(other.unplug(board));
  TEST_ASSERT_FALSE(other.runs("sim-01"));
  TEST_ASSERT_TRUE(folder.process("sim-01")->unplugged);
  ASSERT_OK(other.plug(board));
  TEST_ASSERT_TRUE(other.runs("sim-01"));
  ASSERT_OK(other.stop_everything());
  TEST_ASSERT_TRUE(other.running().empty());
  ASSERT_OK(other.stop_everything());
}

TEST("A note about a process that is long gone, and whose number is ours now, does no harm") {
  const testing::TemporaryFolder fleet;
  const SimulationFolder folder(fleet.path());
  ProcessMark mark = mark_of(::getpid()).value();
  mark.start_ticks -= 1;
  ASSERT_OK(folder.remember("sim-01", {mark, false}));
  const SimulationControl control(folder);
  TEST_ASSERT_TRUE(control.running().empty());
  ASSERT_OK(control.stop_everything());
}

TEST("A board that there is not is refused with the nearest name") {
  const testing::TemporaryFolder fleet;
  const SimulationFolder folder(fleet.path());
  ASSERT_CONTAINS(message_of(require_board(example(folder), "sim-1")), "did you mean 'sim-01'?");
}

TEST("A board that a killed start has left without a program is refused, not run") {
  const testing::TemporaryFolder fleet;
  const SimulationFolder folder(fleet.path());
  Simulation simulation = example(folder);
  ASSERT_OK(require_board(simulation, "sim-01"));
  simulation.boards.front().command.arguments.clear();
  ASSERT_CONTAINS(message_of(require_board(simulation, "sim-01")), "run aflguard sim up again");
}
