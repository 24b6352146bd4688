#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "firmware_sim/local_fleet/running_fleet.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"
#include "tests/support/wait_until.h"

namespace aflguard::testing {

/// Three classes that a line can tell apart.
inline std::string samples() {
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

/// A real fleet "greenhouse" in the folder "fleet" of a temporary folder: broker, gateway, and one board.
class Greenhouse final {
 public:
  /// `more` goes to `aflguard fleet init`, `settings` to the end of gateway.toml.
  explicit Greenhouse(const std::string& more = {}, const std::string& settings = {}) {
    shell("aflguard fleet init fleet --name greenhouse --broker-host localhost --broker-port " +
          std::to_string(port_) + " " + more);
    shell("aflguard model build --zoo logistic-regression --features 4 --classes 3 -o fleet/model");
    ASSERT_OK(write_file_atomically(folder_ / "fleet/gateway/trusted.csv", samples()));
    const auto configuration = folder_ / "fleet/gateway/gateway.toml";
    ASSERT_OK(write_file_atomically(configuration, read_text_file(configuration).value() + settings));
    shell("aflguard-gateway --config fleet/gateway/gateway.toml --test-config");
    ASSERT_OK(programs_.launcher().start_broker());
    start_gateway();
  }

  /// One line of the operator's shell; it must succeed. Its output.
  std::string shell(const std::string& line) const {
    const ProgramOutcome outcome = try_shell(line);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, (line + "\n" + outcome.output).c_str());
    return outcome.output;
  }
  /// ... which may fail.
  [[nodiscard]] ProgramOutcome try_shell(const std::string& line) const {
    auto outcome = run_program(
        {"env", "AFLGUARD_FLEET=fleet",
         "PATH=" + programs_folder().string() + ":/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-c", line + " 2>&1"},
        folder_.path());
    ASSERT_OK(outcome);
    return *outcome;
  }

  void start_gateway() { ASSERT_OK(programs_.launcher().start_gateway()); }
  void stop_gateway() { programs_.programs().stop_gateway(); }

  /// The board: its bundle unpacked, its samples, its client.
  void start_board() {
    shell("mkdir board && tar -xf pi-1.tar -C board");
    ASSERT_OK(write_file_atomically(folder_ / "board/data.csv", samples()));
    // A real board keeps its state under /var/lib; this one shares the machine.
    shell("sed -i 's|^file = .*|file = \"data.csv\"|; s|^folder = .*|folder = \"state\"|' board/client.toml");
    ASSERT_CONTAINS(read_text_file(folder_ / "board/client.toml").value(), "folder = \"state\"");
    shell("aflguard-client --config board/client.toml --test-config");
    ASSERT_OK(programs_.launcher().start_client(
        {"pi-1", {program("aflguard-client"), "--config", (folder_ / "board/client.toml").string()}}));
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool board_runs() { return programs_.programs().check_running("pi-1").ok(); }

  /// How often the log of a program has `text`: "gateway", "pi-1".
  [[nodiscard]] std::size_t count(const std::string& program, const std::string& text) const {
    const auto said = read_text_file(programs_.log(program));
    std::size_t found = 0;
    if (!said.ok()) return 0;
    for (auto at = said->find(text); at != std::string::npos; at = said->find(text, at + 1)) ++found;
    return found;
  }
  /// What mosquitto_sub shows the operator: the newest of each topic.
  [[nodiscard]] std::map<std::string, nlohmann::json> watch() const {
    // What is retained, and what comes in three seconds.
    const auto outcome =
        run_program({"sh", "-c",
                     "cd fleet/operator && mosquitto_sub -h localhost -p " + std::to_string(port_) +
                         " --cafile ca.crt --cert operator.crt --key operator.key -v -W 3"
                         " -t 'aflguard/v1/greenhouse/gateway/#' -t 'aflguard/v1/greenhouse/up/+/status'"
                         " -t 'aflguard/v1/greenhouse/events' 2>&1"},
                    folder_.path());
    ASSERT_OK(outcome);
    std::map<std::string, nlohmann::json> newest;
    std::istringstream lines(outcome->output);
    for (std::string line; std::getline(lines, line);) {
      const auto space = line.find(' ');
      if (space == std::string::npos || line.find('{') == std::string::npos) continue;
      const nlohmann::json json = nlohmann::json::parse(line.substr(space + 1), nullptr, false);
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
  TemporaryFolder folder_;
  std::uint16_t port_ = free_loopback_port();
  sim::RunningFleet programs_{
      fleet::FleetFolder{folder_ / "fleet"}, folder_ / "logs", {.programs = programs_folder()}};
};

}  // namespace aflguard::testing
