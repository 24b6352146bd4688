// Simulated boards, started, broken and ended by the real program, against a real broker and gateway. By
// default three processes of this machine learn, and one loses its power; `./run check fleet` goes on with
// starvation, chaos and another day, also with virtual machines and translated programs:
//   AFLGUARD_SIM_DEPTH    native=3, or board=2,user=4
//   AFLGUARD_SIM_DATASET  mnist
//   AFLGUARD_SIM_MINUTES  of chaos
//   AFLGUARD_SEED         of the chaos
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <future>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

std::string from_environment(const char* name, const char* default_value) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? default_value : text;
}

void need_broker() {
  if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
}

/// Processes whose command line names something in `folder`.
std::size_t processes_of(const fs::path& folder) {
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (std::atoi(entry.path().filename().c_str()) <= 0) continue;
    std::ifstream in(entry.path() / "cmdline");
    const std::string command((std::istreambuf_iterator<char>(in)), {});
    if (command.find(folder.string()) != std::string::npos) ++found;
  }
  return found;
}

/// A fleet for one test; whatever happens, nothing of it runs afterwards.
class SimulatedFleet final {
 public:
  ~SimulatedFleet() {
    (void)run_program({testing::program("aflguard"), "sim", "down", "--fleet", fleet()}, "/");
  }

  [[nodiscard]] std::string fleet() const { return (folder_ / "fleet").string(); }
  [[nodiscard]] const fs::path& path() const { return folder_.path(); }

  /// What the verb prints on standard output; standard error is shown when it fails.
  std::string run(const std::string& verb, int expected = 0) const {
    const auto outcome = run_program({"sh", "-c",
                                      "'" + testing::program("aflguard") + "' sim " + verb + " --fleet '" +
                                          fleet() + "' >'" + (folder_ / "out").string() + "'"},
                                     folder_.path());
    ASSERT_OK(outcome);
    std::ifstream in(folder_ / "out");
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    TEST_ASSERT_EQUAL_INT_MESSAGE(expected, outcome->exit_code,
                                  (verb + ": " + outcome->output + text).c_str());
    return expected == 0 ? text : outcome->output;
  }
  [[nodiscard]] Json status() const { return Json::parse(run("status --json")); }
  [[nodiscard]] Json board(const std::string& name) const {
    const Json found = status();
    for (const Json& board : found.at("boards")) {
      if (board.at("name") == name) return board;
    }
    TEST_FAIL_MESSAGE(name.c_str());
    return {};
  }
  void verify() const { TEST_ASSERT_TRUE(Json::parse(run("verify --json")).at("holds").get<bool>()); }

 private:
  testing::TemporaryFolder folder_;
};

std::string text(const Json& json, const char* key) {
  return json.at(key).get<std::string>();
}

void check_everybody(const SimulatedFleet& fleet, std::size_t updates) {
  std::size_t malicious = 0;
  const Json found = fleet.status();
  for (const Json& board : found.at("boards")) {
    const std::string about = board.dump();
    TEST_ASSERT_EQUAL_STRING_MESSAGE("running", text(board, "state").c_str(), about.c_str());
    TEST_ASSERT_TRUE_MESSAGE(board.at("updates").get<std::size_t>() >= updates, about.c_str());
    TEST_ASSERT_TRUE_MESSAGE(board.at("samples").get<std::size_t>() > 0, about.c_str());
    const Json& judged = board.at("judged");
    const auto rejected = judged.at("rejected").get<std::size_t>();
    const auto accepted = judged.at("accepted").get<std::size_t>();
    if (board.at("attack").is_null()) {
      TEST_ASSERT_TRUE_MESSAGE(accepted > 0, about.c_str());
      continue;
    }
    ++malicious;
    // The guard may let one through that is short by chance.
    TEST_ASSERT_TRUE_MESSAGE(rejected + 1 >= updates, about.c_str());
    TEST_ASSERT_TRUE_MESSAGE(accepted <= 1 + rejected / 20, about.c_str());
  }
  TEST_ASSERT_EQUAL_size_t(1, malicious);
}

}  // namespace

TEST(
    "Simulated boards train, are killed, starved and plugged in again, and nothing is lost or repeated; a "
    "malicious one is rejected") {
  need_broker();
  const std::string depth = from_environment("AFLGUARD_SIM_DEPTH", "native=3");
  const std::string dataset = from_environment("AFLGUARD_SIM_DATASET", "synthetic");
  const bool at_length = !from_environment("AFLGUARD_SIM_DEPTH", "").empty();
  const bool quick = depth.find("native") != std::string::npos;
  const std::string up = "up --depth " + depth +
                         " --malicious 1 --attack gd --with-gateway --json --patience 1200 --dataset " +
                         dataset + (quick ? " --interval 0.1" : "");
  const std::string timeout = " --patience 1200";
  SimulatedFleet fleet;
  const Json started = Json::parse(fleet.run(up));
  TEST_ASSERT_EQUAL_STRING("aflguard-sim-1", text(started, "schema").c_str());
  TEST_ASSERT_TRUE(started.at("running").get<bool>());
  for (const Json& board : started.at("boards")) TEST_ASSERT_TRUE(board.at("connected").get<bool>());
  ASSERT_CONTAINS(fleet.run(up, 1), "a simulation of this fleet runs already");

  fleet.run("wait --verdicts 3" + timeout);
  check_everybody(fleet, 3);

  // One loses its power, and goes on where it was.
  const auto before = fleet.board("sim-01").at("last_sequence").get<std::uint64_t>();
  fleet.run("unplug sim-01");
  TEST_ASSERT_EQUAL_STRING("unplugged", text(fleet.board("sim-01"), "state").c_str());
  TEST_ASSERT_TRUE(fleet.board("sim-01").at("pid").is_null());
  fleet.run("plug sim-01");
  fleet.run("wait sim-01 --verdicts 2" + timeout);
  const Json back = fleet.board("sim-01");
  TEST_ASSERT_EQUAL_UINT(2, back.at("starts").get<unsigned>());
  TEST_ASSERT_TRUE(back.at("last_sequence").get<std::uint64_t>() >= before + 2);
  fleet.verify();
  if (!at_length) {
    fleet.run("down");
    ASSERT_CONTAINS(fleet.run("plug sim-09", 1), "unknown board 'sim-09'");
    TEST_ASSERT_EQUAL_size_t(0, processes_of(fleet.path()));
    return;
  }

  // One loses its network: at most the verdict that was on its way arrives.
  fleet.run("starve sim-02");
  TEST_ASSERT_EQUAL_STRING("starved", text(fleet.board("sim-02"), "state").c_str());
  const auto starving = fleet.board("sim-02").at("updates").get<std::size_t>();
  fleet.run("wait sim-01 --verdicts 4" + timeout);
  TEST_ASSERT_TRUE(fleet.board("sim-02").at("updates").get<std::size_t>() <= starving + 1);
  fleet.run("starve sim-02 --bytes-per-second 100000");
  TEST_ASSERT_EQUAL_STRING("slow 100000", text(fleet.board("sim-02"), "link").c_str());
  fleet.run("wait sim-02 --verdicts 1" + timeout);
  fleet.run("plug sim-02");
  TEST_ASSERT_EQUAL_STRING("open", text(fleet.board("sim-02"), "link").c_str());

  // One ends by itself, and that is seen.
  ::kill(fleet.board("sim-02").at("pid").get<pid_t>(), SIGKILL);
  testing::wait_until("sim-02 is seen to have ended",
                      [&] { return text(fleet.board("sim-02"), "state") == "ended"; });
  ASSERT_CONTAINS(fleet.run("starve sim-02", 1), "does not run");
  ASSERT_CONTAINS(fleet.run("chaos", 1), "board sim-02 does not run");
  fleet.run("plug sim-02");

  const std::string seed = from_environment("AFLGUARD_SEED", "1");
  const Json chaos = Json::parse(fleet.run("chaos --json --seed " + seed + " --minutes " +
                                           from_environment("AFLGUARD_SIM_MINUTES", "0.1") + timeout));
  std::printf("chaos: %s\n", chaos.dump().c_str());
  TEST_ASSERT_TRUE(chaos.at("ledger").at("holds").get<bool>());
  check_everybody(fleet, 3);

  fleet.run("down");
  TEST_ASSERT_EQUAL_size_t(0, processes_of(fleet.path()));
  TEST_ASSERT_FALSE(fleet.status().at("running").get<bool>());

  // The same boards another day: their state was kept, their numbers go on.
  const auto last = fleet.board("sim-01").at("last_sequence").get<std::uint64_t>();
  fleet.run(up);
  fleet.run("wait sim-01 --verdicts 1" + timeout);
  TEST_ASSERT_TRUE(fleet.board("sim-01").at("last_sequence").get<std::uint64_t>() > last);
  fleet.verify();
  std::printf("%s\n", fleet.run("status").c_str());
  fleet.run("down");
  TEST_ASSERT_EQUAL_size_t(0, processes_of(fleet.path()));
}

TEST("What cannot be simulated is refused before anything is started") {
  const testing::TemporaryFolder folder;
  const auto refuse = [&](const std::string& arguments, int code = 1) {
    const auto outcome =
        run_program({"sh", "-c", "'" + testing::program("aflguard") + "' sim " + arguments}, folder.path());
    ASSERT_OK(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(code, outcome->exit_code, outcome->output.c_str());
    TEST_ASSERT_FALSE(fs::exists(folder / "fleet"));
    return outcome->output;
  };
  const std::string up = "up --fleet fleet --depth native --dataset synthetic ";
  ASSERT_CONTAINS(refuse(up + "--boards 2"), "fleet is not a fleet folder");
  ASSERT_CONTAINS(refuse(up, 2), "0 boards");
  ASSERT_CONTAINS(refuse(up + "--boards 2 --malicious -1", 2), "-1");
  ASSERT_CONTAINS(refuse(up + "--boards 2 --seed -1", 2), "-1");
  ASSERT_CONTAINS(refuse("up --fleet fleet --depth nativ=2", 2), "nativ");
  ASSERT_CONTAINS(refuse(up + "--boards 65", 2), "65");
  ASSERT_CONTAINS(refuse(up + "--boards 2 --malicious 3 --with-gateway", 2), "3 malicious of 2 boards");
  ASSERT_CONTAINS(refuse(up + "--boards 2 --malicious 1 --attack gdd --with-gateway", 2),
                  "did you mean 'gd'?");
  ASSERT_CONTAINS(refuse("up --fleet fleet --boards 2 --depth native --dataset mnistt --with-gateway"),
                  "did you mean 'mnist'?");
  const std::string missing =
      refuse("up --fleet fleet --boards 2 --depth user --arm64 nowhere --with-gateway");
  TEST_ASSERT_TRUE_MESSAGE(missing.find("./run arm64") != std::string::npos ||
                               missing.find("apt-get install qemu-user-static") != std::string::npos,
                           missing.c_str());
  ASSERT_CONTAINS(refuse("status --fleet fleet"), "fleet is not a fleet folder");
  ASSERT_CONTAINS(refuse("plug --fleet fleet", 2), "boards");
}

TEST("A fleet without a simulation says so; boards that no broker waits for are not started") {
  const testing::TemporaryFolder folder;
  const auto run = [&](const std::string& command) {
    const auto outcome = run_program({"sh", "-c", command}, folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  };
  const std::string quoted = "'" + testing::program("aflguard") + "' ";
  TEST_ASSERT_EQUAL_INT(0,
                        run(quoted + "model build --zoo linear-regression --features 4 -o model").exit_code);
  // Port 1 of loopback: nobody listens there.
  const auto made = run(quoted + "fleet init fleet --name test --model model --broker-port 1");
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, made.exit_code, made.output.c_str());
  ASSERT_CONTAINS(run(quoted + "sim status --fleet fleet").output, "this fleet has no simulation");
  const auto status = run(quoted + "sim status --fleet fleet --json");
  TEST_ASSERT_EQUAL_INT(0, status.exit_code);
  TEST_ASSERT_FALSE(Json::parse(status.output).at("running").get<bool>());
  const auto misfit = run(quoted + "sim up --fleet fleet --boards 2 --depth native --dataset synthetic");
  TEST_ASSERT_EQUAL_INT(1, misfit.exit_code);
  ASSERT_CONTAINS(misfit.output, "data set 'synthetic'");
  ASSERT_CONTAINS(misfit.output, "does not fit the fleet's model");
  run("printf 'a,b,c,d,y\\n1,2,3,4,1\\n2,3,4,5,2\\n3,4,5,6,3\\n4,5,6,7,4\\n' >own.csv");
  const auto lonely = run(quoted + "sim up --fleet fleet --boards 2 --depth native --data own.csv");
  TEST_ASSERT_EQUAL_INT(1, lonely.exit_code);
  ASSERT_CONTAINS(lonely.output, "no broker answers at localhost:1");
  const auto few = run(quoted + "sim up --fleet fleet --boards 5 --depth native --data own.csv");
  ASSERT_CONTAINS(few.output, "board 5 of 5 would get no samples of own.csv");
  TEST_ASSERT_EQUAL_size_t(0, processes_of(folder.path()));
  ASSERT_CONTAINS(run(quoted + "sim down --fleet fleet").output, "nothing ran");
}

namespace {

/// A broker that takes connections and never says a word, and a fleet whose broker it is. Whatever happens,
/// nothing of a simulation of that fleet runs afterwards.
class SilentFleet final {
 public:
  SilentFleet() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    TEST_ASSERT_EQUAL_INT(0, ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size));
    TEST_ASSERT_EQUAL_INT(0, ::listen(listener_, 16));
    TEST_ASSERT_EQUAL_INT(0, ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size));
    TEST_ASSERT_EQUAL_INT(0, run("model build --zoo linear-regression --features 1 -o model").exit_code);
    TEST_ASSERT_EQUAL_INT(0, run("fleet init fleet --name test --model model --broker-port " +
                                 std::to_string(ntohs(address.sin_port)))
                                 .exit_code);
    std::ofstream(folder_ / "own.csv") << "a,y\n1,1\n2,2\n";
  }
  SilentFleet(const SilentFleet&) = delete;
  SilentFleet& operator=(const SilentFleet&) = delete;
  ~SilentFleet() {
    (void)run_program({testing::program("aflguard"), "sim", "down", "--fleet", "fleet"}, folder_.path());
    ::close(listener_);
  }

  [[nodiscard]] const fs::path& path() const { return folder_.path(); }
  [[nodiscard]] ProgramOutcome run(const std::string& arguments) const {
    auto outcome =
        run_program({"sh", "-c", "'" + testing::program("aflguard") + "' " + arguments}, folder_.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  [[nodiscard]] ProgramOutcome up(int timeout) const {
    return run("sim up --fleet fleet --boards 1 --depth native --data own.csv --patience " +
               std::to_string(timeout));
  }
  [[nodiscard]] bool board_runs() const {
    const auto state = run("sim status --fleet fleet --json");
    const Json boards = state.exit_code == 0 ? Json::parse(state.output).at("boards") : Json::array();
    return !boards.empty() && !boards[0].at("pid").is_null();
  }

 private:
  testing::TemporaryFolder folder_;
  int listener_;
};

}  // namespace

TEST("A simulation whose boards do not connect can be ended while it starts; its starter reports it") {
  const SilentFleet fleet;
  auto up = std::async(std::launch::async, [&fleet] { return fleet.up(120); });
  while (!fleet.board_runs() && up.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
  }
  const std::string ended = fleet.run("sim down --fleet fleet").output;
  const ProgramOutcome told = up.get();
  ASSERT_CONTAINS(ended, "ended 2 programs");  // the board and its link
  TEST_ASSERT_EQUAL_INT(1, told.exit_code);
  ASSERT_CONTAINS(told.output, "another command has ended the simulation");
  TEST_ASSERT_EQUAL_size_t(0, processes_of(fleet.path()));
}

TEST("A board that was unplugged while it started is not waited for") {
  const SilentFleet fleet;
  auto up = std::async(std::launch::async, [&fleet] { return fleet.up(120); });
  while (!fleet.board_runs() && up.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
  }
  TEST_ASSERT_EQUAL_INT(0, fleet.run("sim unplug sim-01 --fleet fleet").exit_code);
  const ProgramOutcome told = up.get();
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, told.exit_code, told.output.c_str());
  ASSERT_CONTAINS(told.output, "unplugged");
}

TEST("Patience ends, and with it everything that was started") {
  const SilentFleet fleet;
  const ProgramOutcome told = fleet.up(1);
  TEST_ASSERT_EQUAL_INT(1, told.exit_code);
  ASSERT_CONTAINS(told.output, "board sim-01 is not connected after 1 s");
  TEST_ASSERT_EQUAL_size_t(0, processes_of(fleet.path()));
}
