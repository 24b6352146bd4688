// The real program on a pseudo-terminal, and a real broker with messages of a small fleet.
#include <chrono>
#include <csignal>
#include <thread>

#include "core/system/atomic_file.h"
#include "tests/scenarios/watched_fleet.h"
#include "tests/support/tmux_screen.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using testing::TmuxScreen;
using testing::WatchedFleet;
using Json = nlohmann::json;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The names of the table's rows, in their order.
std::string table(const std::string& screen) {
  std::string names;
  std::size_t at = screen.find("\n DEVICE");
  while (at != std::string::npos) {
    at = screen.find('\n', at + 1);
    if (at == std::string::npos || screen.compare(at + 2, 3, "pi-") != 0) break;
    names += screen.substr(at + 2, 4) + " ";
  }
  return names;
}

void start(const TmuxScreen& screen, const std::string& more = {}) {
  screen.type("stty -g >before; " + WatchedFleet::program() + " monitor --fleet fleet " + more +
              "; echo ended with $?; stty -g >after");
}

void expect_restored(const WatchedFleet& fleet, const TmuxScreen& screen) {
  screen.wait_for("ended with 0");
  screen.wait("a shell again", [](const std::string& text) {
    const auto ended = text.find("ended with");
    return ended != std::string::npos && text.find("shell>", ended) != std::string::npos;
  });
  TEST_ASSERT_FALSE_MESSAGE(has(screen.text(), "AFLGuard"), "the screen was left behind");
  TEST_ASSERT_EQUAL_STRING(read_text_file(fleet.temporary / "before").value().c_str(),
                           read_text_file(fleet.temporary / "after").value().c_str());
}

}  // namespace

TEST(
    "On a terminal the monitor sorts, filters, opens a device, pauses, resizes, and restores what was "
    "there") {
  const WatchedFleet fleet;
  fleet.publish_all();
  const TmuxScreen screen(fleet.temporary.path(), 120, 30);
  start(screen);
  screen.wait("devices by trouble", [](const std::string& text) { return table(text) == "pi-9 pi-2 pi-1 "; });
  ASSERT_CONTAINS(screen.text(), "gateway ready");
  ASSERT_CONTAINS(screen.text(), "97 % rejected");
  fleet.publish_event("rejected", "pi-9", "too-far: 310.2, bound 18.9");
  screen.wait_for("too-far: 310.2, bound 18.9");

  screen.press("s");
  screen.wait("devices by name", [](const std::string& text) { return table(text) == "pi-1 pi-2 pi-9 "; });
  screen.press("/");
  screen.type("pi-2");
  screen.wait("one device", [](const std::string& text) { return table(text) == "pi-2 "; });
  screen.press("Escape");
  screen.wait("all devices", [](const std::string& text) { return table(text) == "pi-1 pi-2 pi-9 "; });
  screen.press("End");
  screen.press("Enter");
  screen.wait_for("distance / bound     12.50");
  screen.press("Escape");
  screen.wait_for("EVENTS");

  screen.press("Space");
  screen.wait_for("PAUSED");
  fleet.publish_metrics(77'777);
  screen.press("?");
  screen.wait_for("sort by the next");
  TEST_ASSERT_FALSE(has(screen.text(), "77,777"));
  screen.press("Escape");
  screen.press("Space");
  screen.wait_for("v77,777");

  screen.resize(70, 20);
  screen.wait("a narrow table", [](const std::string& text) {
    return has(text, "WHY") && !has(text, "SEEN") && has(text, "q quit");
  });
  screen.resize(140, 40);
  screen.wait_for("LOSS");
  screen.press("q");
  expect_restored(fleet, screen);
}

TEST("Ctrl-Z gives the terminal back and fg goes on; Ctrl-C, SIGTERM and a crash restore it") {
  const WatchedFleet fleet;
  fleet.publish_all();
  const TmuxScreen screen(fleet.temporary.path(), 100, 24);
  start(screen);
  screen.wait_for("q quit");
  screen.press("C-z");
  screen.wait("the shell",
              [](const std::string& text) { return !has(text, "q quit") && has(text, "shell>"); });
  screen.type("clear; fg");
  screen.wait_for("q quit");
  screen.press("C-c");
  screen.wait("the shell", [](const std::string& text) { return !has(text, "q quit"); });

  for (const char* signal : {"TERM", "ABRT"}) {
    screen.type("clear; rm -f after; stty sane; stty -g >before");
    screen.type("sh -c 'echo $$ >pid; exec " + WatchedFleet::program() +
                " monitor --fleet fleet' 2>/dev/null; stty -g >after; echo it has $((40+2)) ended");
    screen.wait_for("q quit");
    const auto pid = read_text_file(fleet.temporary / "pid");
    ASSERT_OK(pid);
    ::kill(std::stoi(*pid), signal == std::string("TERM") ? SIGTERM : SIGABRT);
    screen.wait_for("it has 42 ended");
    TEST_ASSERT_FALSE(has(screen.text(), "q quit"));
    TEST_ASSERT_EQUAL_STRING(read_text_file(fleet.temporary / "before").value().c_str(),
                             read_text_file(fleet.temporary / "after").value().c_str());
  }
}

TEST("Colours are used on a terminal, and not with NO_COLOR") {
  const WatchedFleet fleet;
  fleet.publish_all();
  const TmuxScreen screen(fleet.temporary.path(), 100, 24);
  start(screen);
  screen.wait_for("97 % rejected");
  ASSERT_CONTAINS(screen.text(/*styles=*/true), "\x1b[31m");
  screen.press("q");
  screen.wait_for("ended with 0");
  screen.type("clear; NO_COLOR=1 " + WatchedFleet::program() + " monitor --fleet fleet");
  screen.wait_for("97 % rejected");
  TEST_ASSERT_FALSE(has(screen.text(/*styles=*/true), "\x1b[31m"));
  screen.press("q");
}

TEST("The program that takes the monitor's identity is named, and t takes it back; nobody fights") {
  const WatchedFleet fleet;
  fleet.publish_all();
  const TmuxScreen screen(fleet.temporary.path(), 120, 24);
  start(screen);
  screen.wait_for("97 % rejected");
  ASSERT_CONTAINS(fleet.expect(1, "monitor"), "is in use by another aflguard on this machine");
  ASSERT_CONTAINS(fleet.expect(1, "monitor --identity nobody"), "has no viewer 'nobody'");
  (void)fleet.expect(0, "status");  // a short look has its own identity
  // Mosquitto 2.0.11 does not tell whom it pushes out; someone who insists shows all the same.
  std::unique_ptr<testing::RawMqttClient> other;
  screen.wait("the other one", [&](const std::string& text) {
    if (has(text, "another viewer connected as 'operator': t takes it back")) return true;
    if (!other || !other->alive()) {
      other = std::make_unique<testing::RawMqttClient>(fleet.port, fleet.viewer("operator"), "operator");
    }
    return false;
  });
  TEST_ASSERT_TRUE(other->alive());
  screen.press("t");
  screen.wait("its own again", [](const std::string& text) { return !has(text, "another viewer"); });
  screen.wait("the other one gone", [&](const std::string&) { return !other->alive(); });
  // A further viewer of the fleet is taken where the operator is in use.
  (void)fleet.expect(0, "fleet viewer add anna");
  testing::BackgroundProcess second(
      {"env", "AFLGUARD_FLEET=fleet", WatchedFleet::program(), "monitor", "--interval", "0.2"},
      fleet.temporary.path(), fleet.temporary / "second");
  testing::wait_until("the second monitor shows the gateway", [&] {
    const bool runs = second.running();
    const std::string said = read_text_file(fleet.temporary / "second").value();
    TEST_ASSERT_TRUE_MESSAGE(runs, said.c_str());
    return has(said, "gateway ready");
  });
  TEST_ASSERT_EQUAL_INT(0, second.end(SIGTERM));
  screen.press("q");
  screen.wait_for("ended with 0");
}

TEST("Without a terminal there are lines, events as they come, and an end at SIGTERM") {
  const WatchedFleet fleet;
  fleet.publish_all();
  testing::BackgroundProcess monitor(
      {"env", "AFLGUARD_FLEET=fleet", WatchedFleet::program(), "monitor", "--interval", "0.2"},
      fleet.temporary.path(), fleet.temporary / "lines");
  const auto wait_for = [&](const std::string& part) {
    testing::wait_until(part, [&] {
      const bool runs = monitor.running();
      const std::string said = read_text_file(fleet.temporary / "lines").value();
      TEST_ASSERT_TRUE_MESSAGE(runs, said.c_str());
      return has(said, part);
    });
  };
  wait_for("gateway ready, v1,234, 11.0 updates/s, +1,159 -341, test error 0.0546");
  wait_for("devices 2/3 connected, 1 lost, 1 suspicious; worst: pi-9, 97 % rejected");
  fleet.publish_event("rejected", "pi-9", "too-far");
  wait_for("event rejected pi-9: too-far");
  TEST_ASSERT_EQUAL_INT(0, monitor.end(SIGTERM));
  TEST_ASSERT_FALSE(has(read_text_file(fleet.temporary / "lines").value(), "\x1b"));
}

TEST("A snapshot is one JSON document with everything that the broker keeps, also without a gateway") {
  const WatchedFleet fleet;
  fleet.publish_all();
  for (const char* verb : {"monitor --once --json", "status --json"}) {
    const ProgramOutcome outcome = fleet.run(verb, /*only_results=*/true);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, outcome.output.c_str());
    const Json document = Json::parse(outcome.output);
    TEST_ASSERT_EQUAL_STRING("aflguard-status-1", document.at("schema").get<std::string>().c_str());
    TEST_ASSERT_EQUAL_size_t(3, document.at("devices").size());
    TEST_ASSERT_EQUAL_STRING("pi-9", document.at("devices")[0].at("name").get<std::string>().c_str());
    TEST_ASSERT_EQUAL_INT(1, document.at("tally").at("lost").get<int>());
  }
  ASSERT_CONTAINS(fleet.expect(0, "status"), "97 % rejected");
  ASSERT_CONTAINS(fleet.expect(0, "status --viewer fleet/viewers/dashboard"), "fleet f");
}

TEST("What cannot be watched ends with one line that says why") {
  WatchedFleet fleet;
  (void)fleet.expect(2, "monitor --json");
  (void)fleet.expect(2, "monitor --interval 0");
  ASSERT_CONTAINS(fleet.expect(1, "status --fleet nowhere"), "nowhere is not a fleet folder");
  ASSERT_CONTAINS(fleet.expect(1, "status --viewer nowhere"), "nowhere is not a viewer folder");
  (void)fleet.expect(0, "fleet viewer revoke doctor");
  ASSERT_CONTAINS(fleet.expect(1, "status --identity doctor"), "it is revoked");
  fleet.stop_broker();
  ASSERT_CONTAINS(fleet.expect(1, "status --identity operator"), std::to_string(fleet.port));
}
