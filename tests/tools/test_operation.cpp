// A small fleet as docs/operate.md has it, command by command: real programs, real broker, the operator's
// tools.
#include <csignal>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "core/base/atomic_file.h"
#include "core/base/child_process.h"
#include "tests/support/background_process.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

using namespace aflguard;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr std::chrono::seconds kLong(90);

std::string bin(const std::string& program) {
  const char* folder = std::getenv("AFLGUARD_BIN");
  TEST_ASSERT_NOT_NULL_MESSAGE(folder, "ctest sets AFLGUARD_BIN");
  return std::string(folder) + "/" + program;
}

template <typename Condition>
void wait_until(const std::string& what, const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (!condition()) {
    TEST_ASSERT_TRUE_MESSAGE(std::chrono::steady_clock::now() < deadline, what.c_str());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

/// Three classes that a line can tell apart.
std::string samples() {
  std::string text = "a,b,c,d,label\n";
  for (int i = 0; i < 60; ++i) {
    const int label = i % 3;
    const double noise = 0.01 * (i % 7);
    for (int feature = 0; feature < 4; ++feature) {
      text += std::to_string((feature == label ? 1.0 : 0.0) + noise) + ",";
    }
    text += std::to_string(label) + "\n";
  }
  return text;
}

class Greenhouse final {
 public:
  Greenhouse() {
    shell("aflguard fleet init fleet --name greenhouse --broker-host localhost --broker-port " +
          std::to_string(port_));
    shell("aflguard model build --zoo logistic-regression --features 4 --classes 3 -o fleet/model");
    ASSERT_OK(write_file_atomically(folder_ / "fleet/gateway/trusted.csv", samples()));
    shell("aflguard-gateway --config fleet/gateway/gateway.toml --test-config");
    broker_.emplace(folder_ / "fleet/broker/mosquitto.conf", port_, folder_ / "broker.log");
    start_gateway();
  }

  /// One line of the operator's shell; it must succeed. Its output.
  std::string shell(const std::string& line) const {
    const auto outcome =
        run_program({"env", "AFLGUARD_FLEET=fleet", "PATH=" + bin("") + ":/usr/sbin:/usr/bin:/sbin:/bin",
                     "sh", "-c", line + " 2>&1"},
                    folder_.path());
    ASSERT_OK(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, (line + "\n" + outcome->output).c_str());
    return outcome->output;
  }

  void start_gateway() {
    gateway_.emplace(std::vector<std::string>{bin("aflguard-gateway"), "--config",
                                              (folder_ / "fleet/gateway/gateway.toml").string()},
                     folder_.path(), folder_ / "gateway.log");
    ++gateway_starts_;
    wait_until("the gateway is ready",
               [this] { return count("gateway.log", "ready: connected") >= gateway_starts_; });
  }
  void stop_gateway() { TEST_ASSERT_EQUAL_INT(0, gateway_->end(SIGTERM)); }

  /// The board: its bundle unpacked, its samples, its client.
  void start_board() {
    shell("mkdir board && tar -xf pi-1.tar -C board");
    ASSERT_OK(write_file_atomically(folder_ / "board/data.csv", samples()));
    // A board of its own would keep its state under /var/lib; this one is not alone here.
    shell("sed -i 's|^file = .*|file = \"data.csv\"|; s|^folder = .*|folder = \"state\"|' board/client.toml");
    ASSERT_CONTAINS(read_text_file(folder_ / "board/client.toml").value(), "folder = \"state\"");
    shell("aflguard-client --config board/client.toml --test-config");
    board_.emplace(std::vector<std::string>{bin("aflguard-client"), "--config",
                                            (folder_ / "board/client.toml").string()},
                   folder_.path(), folder_ / "client.log");
  }
  [[nodiscard]] bool board_runs() { return board_->running(); }

  [[nodiscard]] std::size_t count(const std::string& log, const std::string& text) const {
    const auto said = read_text_file(folder_ / log);
    std::size_t found = 0;
    if (!said.ok()) return 0;
    for (auto at = said->find(text); at != std::string::npos; at = said->find(text, at + 1)) ++found;
    return found;
  }
  /// What mosquitto_sub shows the operator: the newest of each topic.
  [[nodiscard]] std::map<std::string, Json> watch() const {
    // What is retained, and what comes in three seconds.
    const auto outcome =
        run_program({"sh", "-c",
                     "cd fleet/operator && mosquitto_sub -h localhost -p " + std::to_string(port_) +
                         " --cafile ca.crt --cert operator.crt --key operator.key -v -W 3"
                         " -t 'aflguard/v1/greenhouse/gateway/#' -t 'aflguard/v1/greenhouse/up/+/status'"
                         " -t 'aflguard/v1/greenhouse/events' 2>&1"},
                    folder_.path());
    ASSERT_OK(outcome);
    std::map<std::string, Json> newest;
    std::istringstream lines(outcome->output);
    for (std::string line; std::getline(lines, line);) {
      const auto space = line.find(' ');
      if (space == std::string::npos || line.find('{') == std::string::npos) continue;
      const Json json = Json::parse(line.substr(space + 1), nullptr, false);
      TEST_ASSERT_FALSE_MESSAGE(json.is_discarded(), line.c_str());
      newest[line.substr(std::string("aflguard/v1/greenhouse/").size(),
                         space - std::string("aflguard/v1/greenhouse/").size())] = json;
    }
    return newest;
  }
  [[nodiscard]] std::uint64_t stored_version() const {
    return std::stoull(shell("sqlite3 -readonly fleet/gateway/state/gateway.db 'SELECT version FROM state'"));
  }

 private:
  testing::TemporaryFolder folder_;
  std::uint16_t port_ = testing::free_loopback_port();
  std::optional<testing::ConfiguredBroker> broker_;
  std::optional<testing::BackgroundProcess> gateway_;
  std::optional<testing::BackgroundProcess> board_;
  std::size_t gateway_starts_ = 0;
};

}  // namespace

TEST("A fleet is provisioned, run, watched, backed up, restored, renewed and revoked as the manual says") {
  if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  Greenhouse greenhouse;
  greenhouse.shell("aflguard device add pi-1 && aflguard device bundle pi-1 -o pi-1.tar");
  greenhouse.start_board();
  wait_until("the board's updates are judged",
             [&] { return greenhouse.count("client.log", "verdict ") >= 3; });

  std::map<std::string, Json> seen;
  wait_until("the operator sees what happens", [&] {
    seen = greenhouse.watch();
    return seen.contains("gateway/metrics") && seen["gateway/metrics"].at("accepted").get<int>() > 0 &&
           seen.contains("gateway/status") && seen.contains("up/pi-1/status");
  });
  TEST_ASSERT_EQUAL_STRING("ready", seen["gateway/status"].at("state").get<std::string>().c_str());
  TEST_ASSERT_TRUE(seen["up/pi-1/status"].contains("state"));
  ASSERT_CONTAINS(
      greenhouse.shell("sqlite3 fleet/gateway/state/gateway.db "
                       "'SELECT name, accepted, rejected FROM devices ORDER BY rejected DESC LIMIT 10'"),
      "pi-1|");
  greenhouse.shell("aflguard model export fleet/model --store fleet/gateway/state/gateway.db -o model.onnx");

  greenhouse.shell("sqlite3 fleet/gateway/state/gateway.db '.backup backup.db'");
  const std::uint64_t backed_up =
      std::stoull(greenhouse.shell("sqlite3 -readonly backup.db 'SELECT version FROM state'"));
  wait_until("the fleet goes on", [&] { return greenhouse.stored_version() > backed_up; });
  greenhouse.stop_gateway();
  greenhouse.shell(
      "rm -rf fleet/gateway/state && mkdir fleet/gateway/state && mv backup.db "
      "fleet/gateway/state/gateway.db");
  TEST_ASSERT_EQUAL_UINT64(backed_up, greenhouse.stored_version());
  greenhouse.shell("aflguard fleet renew gateway");
  greenhouse.start_gateway();
  wait_until("the board goes on from the backup", [&] { return greenhouse.stored_version() > backed_up; });

  greenhouse.shell(
      "aflguard device renew pi-1 && aflguard fleet renew broker && aflguard fleet renew operator");
  const std::uint64_t renewed = greenhouse.stored_version();
  wait_until("nobody notices a renewal", [&] { return greenhouse.stored_version() > renewed; });
  TEST_ASSERT_TRUE(greenhouse.board_runs());
  ASSERT_CONTAINS(greenhouse.shell("aflguard device revoke pi-1"), "its session has ended");
  wait_until("the board is out", [&] { return greenhouse.count("client.log", "revoked") > 0; });
}
