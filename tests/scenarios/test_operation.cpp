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
