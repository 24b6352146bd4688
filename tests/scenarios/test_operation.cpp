// A small fleet as docs/operate.md has it, command by command: real programs, real broker, the operator's
// tools.
#include "tests/scenarios/greenhouse.h"

using namespace aflguard;
using namespace aflguard::testing;

TEST("A fleet is provisioned, run, watched, backed up, restored, renewed and revoked as the manual says") {
  if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  Greenhouse greenhouse;
  greenhouse.shell("aflguard device add pi-1 && aflguard device bundle pi-1 -o pi-1.tar");
  greenhouse.start_board();
  wait_until("the board's updates are judged", [&] { return greenhouse.count("pi-1", "verdict ") >= 3; });

  std::map<std::string, nlohmann::json> seen;
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
  wait_until("the board is out", [&] { return greenhouse.count("pi-1", "revoked") > 0; });
}

namespace {

/// Lets every program of the shell believe that it is later: "+729d".
std::string later(const std::string& offset) {
  return "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 FAKETIME_DONT_FAKE_MONOTONIC=1 "
         "FAKETIME=" +
         offset + " ";
}

}  // namespace

TEST("A certificate that ends in an hour is renewed over the broker while an update waits") {
  if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  if (!std::filesystem::exists("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")) {
    TEST_IGNORE_MESSAGE("libfaketime is not installed");
  }
  // The board's certificate begins an almost whole life ago: everything else lives in the present.
  Greenhouse greenhouse;
  greenhouse.shell("aflguard device add pi-1 --days 3 && aflguard device bundle pi-1 -o pi-1.tar");
  greenhouse.shell(later("-71h") + "aflguard device renew pi-1 --days 3 && " +
                   "aflguard device bundle pi-1 -o pi-1.tar");
  const std::string before =
      greenhouse.shell("mkdir peek && tar -xf pi-1.tar -C peek && cat peek/device.crt");
  greenhouse.stop_gateway();  // so that the first update waits
  greenhouse.start_board();
  wait_until("the board asks for a certificate",
             [&] { return greenhouse.count("pi-1", "asked for a new one") > 0; });
  const std::string answered = greenhouse.shell("aflguard device renew --requests");
  ASSERT_CONTAINS(answered, "device 'pi-1' has a new certificate");
  wait_until("the board goes on with it",
             [&] { return greenhouse.count("pi-1", "going on with the new") > 0; });
  greenhouse.start_gateway();
  wait_until("its updates are judged", [&] { return greenhouse.count("pi-1", "verdict ") >= 2; });
  TEST_ASSERT_TRUE(greenhouse.board_runs());
  TEST_ASSERT_EQUAL_STRING(before.c_str(), greenhouse.shell("cat board/device.crt").c_str());
  ASSERT_CONTAINS(greenhouse.shell("aflguard device renew --requests"), "no device asks");
  ASSERT_CONTAINS(greenhouse.shell("aflguard-client --config board/client.toml --test-identity"), "fine");
}

namespace {

using Counts = std::map<std::string, int>;

std::string text_of(const Counts& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += name + " " + std::to_string(count) + "; ";
  return text;
}

/// What the page's own code makes of the messages that the broker keeps. Nothing where there is no node.
std::optional<Counts> dashboard_counts(const Greenhouse& greenhouse) {
  const std::string source = (source_folder() / "dashboard/src").string();
  const std::string program =
      "import { FleetState } from '" + source + "/fleet_state.js'; import { troubleOf, deviceState } from '" +
      source +
      "/trouble.js'; import { readFileSync } from 'node:fs'; const state = new FleetState(); "
      "for (const line of readFileSync(0, 'utf8').split('\\n')) { const at = line.indexOf(' '); if (at < 0) "
      "continue; "
      "state.apply(line.slice(0, at).replace('aflguard/v1/greenhouse/', ''), new "
      "TextEncoder().encode(line.slice(at + 1)), Date.now()); } const all = [...state.devices.values()]; "
      "const is = (...names) => all.filter((d) => names.includes(deviceState(d))).length; "
      "console.log(JSON.stringify({ devices: all.length, connected: is('init', 'ready', 'training', "
      "'alert'), lost: "
      "is('lost'), alert: is('alert'), suspicious: all.filter((d) => troubleOf(d, "
      "Date.now()).suspicious).length }));";
  if (greenhouse.try_shell("command -v node").exit_code != 0) return std::nullopt;
  const std::string kept =
      "mosquitto_sub -h localhost -p " + std::to_string(greenhouse.port()) +
      " --cafile fleet/operator/ca.crt --cert fleet/operator/operator.crt --key fleet/operator/operator.key "
      "-v "
      "--retained-only -W 2 -t 'aflguard/v1/greenhouse/gateway/#' -t 'aflguard/v1/greenhouse/up/+/status' "
      "2>/dev/null; true";
  const std::string out =
      greenhouse.shell("(" + kept + ") | node --input-type=module -e \"" + program + "\"");
  return nlohmann::json::parse(out.substr(out.find('{'))).get<Counts>();
}

/// Dashboard, monitor, status and the gateway's metrics count the same, and this.
void assert_counts(const Greenhouse& greenhouse, const Counts& wanted, const std::string& when) {
  std::string seen;
  const auto agree = [&] {
    const auto status = nlohmann::json::parse(greenhouse.shell("aflguard status --json"));
    const auto monitor = nlohmann::json::parse(greenhouse.shell("aflguard monitor --once --json"));
    const auto& metrics = status.at("gateway").at("metrics");
    Counts by_metrics;
    for (const char* name : {"connected", "lost", "alert", "suspicious"}) {
      by_metrics[name] = metrics.value(std::string("devices_") + name, -1);
    }
    by_metrics["devices"] = metrics.value("devices", -1);
    const auto by_status = status.at("tally").get<Counts>();
    const auto by_monitor = monitor.at("tally").get<Counts>();
    const auto by_dashboard = dashboard_counts(greenhouse).value_or(wanted);
    seen = when + ": wanted " + text_of(wanted) + "\nmetrics " + text_of(by_metrics) + "\nstatus " +
           text_of(by_status) + "\nmonitor " + text_of(by_monitor) + "\ndashboard " + text_of(by_dashboard);
    return by_metrics == wanted && by_status == wanted && by_monitor == wanted && by_dashboard == wanted;
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!agree()) {
    TEST_ASSERT_TRUE_MESSAGE(std::chrono::steady_clock::now() < deadline, seen.c_str());
  }
}

}  // namespace

TEST("Dashboard, monitor, status and metrics count the same after a pause, a revocation and a restore") {
  if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  Greenhouse greenhouse;
  greenhouse.shell(
      "aflguard device add pi-1 && aflguard device bundle pi-1 -o pi-1.tar && aflguard device add pi-2");
  greenhouse.start_board();
  wait_until("the board's updates are judged", [&] { return greenhouse.count("pi-1", "verdict ") >= 5; });
  // A board that vanished: its last will is all that the broker has of it.
  greenhouse.shell(
      "mosquitto_pub -h localhost -p " + std::to_string(greenhouse.port()) +
      " --cafile fleet/devices/pi-2/ca.crt --cert fleet/devices/pi-2/device.crt --key "
      "fleet/devices/pi-2/device.key -r -t aflguard/v1/greenhouse/up/pi-2/status -m "
      "'{\"schema\":\"aflguard-device-status-1\",\"state\":\"lost\",\"device\":\"pi-2\",\"message\":\"\"}'");
  const Counts both = {{"devices", 2}, {"connected", 1}, {"lost", 1}, {"alert", 0}, {"suspicious", 0}};
  const Counts one = {{"devices", 1}, {"connected", 1}, {"lost", 0}, {"alert", 0}, {"suspicious", 0}};
  assert_counts(greenhouse, both, "at first");

  greenhouse.shell("aflguard device group bench pi-1 && aflguard device pause --group bench");
  wait_until("the board hears of it", [&] { return greenhouse.count("pi-1", "refused (paused)") > 0; });
  assert_counts(greenhouse, both, "after a pause");
  ASSERT_CONTAINS(greenhouse.shell("aflguard device list"), "paused");
  const std::size_t judged = greenhouse.count("pi-1", "verdict ");
  greenhouse.shell("aflguard device resume --group bench");
  wait_until("the board goes on", [&] { return greenhouse.count("pi-1", "verdict ") > judged; });

  greenhouse.shell("aflguard device revoke pi-2");
  assert_counts(greenhouse, one, "after a revocation");

  greenhouse.shell("sqlite3 fleet/gateway/state/gateway.db '.backup backup.db'");
  greenhouse.stop_gateway();
  greenhouse.shell(
      "rm -rf fleet/gateway/state && mkdir fleet/gateway/state && mv backup.db "
      "fleet/gateway/state/gateway.db");
  greenhouse.start_gateway();
  assert_counts(greenhouse, one, "after a restore");
}
