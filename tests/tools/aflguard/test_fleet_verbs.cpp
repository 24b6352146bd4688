// The real program, with its own fleet and, where it matters, a real broker.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/raw_mqtt_client.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

using namespace aflguard;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

struct FleetSession {
  testing::TemporaryFolder folder;
  std::uint16_t port = testing::free_loopback_port();

  /// `aflguard ARGUMENTS` in the temporary folder, whose fleet is the default one; standard error too, unless
  /// `only_results`.
  [[nodiscard]] ProgramOutcome run(const std::string& arguments, bool only_results = false) const {
    auto outcome = run_program(
        {"env", "AFLGUARD_FLEET=fleet", "sh", "-c",
         "'" + testing::program("aflguard") + "' " + arguments + (only_results ? " 2>/dev/null" : "")},
        folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  /// The last line of a run that must end with `code`.
  [[nodiscard]] std::string expect(int code, const std::string& arguments) const {
    const ProgramOutcome outcome = run(arguments);
    TEST_ASSERT_EQUAL_INT_MESSAGE(code, outcome.exit_code, outcome.output.c_str());
    return outcome.last_line();
  }
  [[nodiscard]] Json json(const std::string& arguments) const {
    return Json::parse(run(arguments + " --json", true).output);
  }
  void init() const { (void)expect(0, "fleet init fleet --name f --broker-port " + std::to_string(port)); }
};

}  // namespace

TEST("A fleet is made, devices are enrolled, listed, renewed, bundled and revoked") {
  const FleetSession session;
  session.init();
  ASSERT_CONTAINS(session.expect(0, "device add pi-1"), "device 'pi-1' is enrolled");
  const Json added = session.json("device add pi-2 --days 5");
  TEST_ASSERT_EQUAL_STRING("aflguard-device-1", added.at("schema").get<std::string>().c_str());
  TEST_ASSERT_TRUE(fs::exists(fs::path(added.at("folder").get<std::string>()) / "device.key"));
  ASSERT_CONTAINS(session.expect(0, "device renew pi-1"), "has a new certificate beside the old one");
  ASSERT_CONTAINS(session.expect(0, "device bundle pi-1 -o pi-1.tar"), "keep it secret");
  TEST_ASSERT_TRUE(fs::status(session.folder / "pi-1.tar").permissions() == fs::perms(0600));
  ASSERT_CONTAINS(session.expect(0, "device revoke pi-2"), "will refuse it when it starts");
  const Json list = session.json("device list");
  TEST_ASSERT_EQUAL_STRING("aflguard-device-list-1", list.at("schema").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_size_t(2, list.at("devices").size());
  TEST_ASSERT_EQUAL_STRING("active", list.at("devices")[0].at("state").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_size_t(2, list.at("devices")[0].at("serials").size());
  TEST_ASSERT_EQUAL_STRING("revoked", list.at("devices")[1].at("state").get<std::string>().c_str());
  ASSERT_CONTAINS(session.run("device list").output, "pi-2                     revoked");
}

TEST("Many devices are enrolled and bundled with one command each, from numbers or a list") {
  const FleetSession session;
  session.init();
  ASSERT_CONTAINS(session.expect(0, "device add --count 3 --prefix pi-"),
                  "3 devices are enrolled, 'pi-1' to 'pi-3'");
  const Json added = session.json("device add --count 2 --prefix pi-");
  TEST_ASSERT_EQUAL_STRING("pi-4", added.at("first").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_INT(2, added.at("count").get<int>());
  ASSERT_OK(write_file_atomically(session.folder / "list.csv", "cam-1\ncam-2\n"));
  ASSERT_CONTAINS(session.expect(0, "device add --from list.csv"), "2 devices are enrolled");
  ASSERT_CONTAINS(session.expect(1, "device add --from list.csv"),
                  "list.csv, line 1: the fleet has a device 'cam-1' already");
  TEST_ASSERT_EQUAL_size_t(7, session.json("device list").at("devices").size());
  ASSERT_CONTAINS(session.expect(0, "device bundle --prefix cam- -o bundles"), "2 bundles are in bundles");
  TEST_ASSERT_TRUE(fs::exists(session.folder / "bundles/cam-2.tar"));
  ASSERT_CONTAINS(session.expect(0, "device bundle --from list.csv -o others"), "2 bundles are in others");
  ASSERT_CONTAINS(session.expect(1, "device bundle --prefix x -o none"), "begins with 'x'");
  (void)session.expect(2, "device add --count 3");
  (void)session.expect(2, "device add --prefix pi-");
  (void)session.expect(2, "device add --count 0 --prefix pi-");
  ASSERT_CONTAINS(session.run("device add --count 99999999 --prefix pi-").output, "10000000");
  (void)session.expect(2, "device add pi-9 --count 3 --prefix pi-");
}

TEST("Mistakes end with code 1 and one line, wrong usage with code 2") {
  const FleetSession session;
  ASSERT_CONTAINS(session.expect(1, "device list"), "fleet is not a fleet folder");
  session.init();
  ASSERT_CONTAINS(session.expect(1, "fleet init fleet --name f"), "exists already");
  ASSERT_CONTAINS(session.expect(1, "device add gateway"), "the fleet's own");
  ASSERT_CONTAINS(session.expect(1, "device add pi-1 --csr none.csr"), "none.csr");
  ASSERT_CONTAINS(session.expect(1, "device revoke pi-1"), "has no device 'pi-1'");
  ASSERT_CONTAINS(session.expect(1, "device bundle pi-1 -o /dev/null/x.tar"), "has no device 'pi-1'");
  ASSERT_CONTAINS(session.expect(1, "fleet renew kitchen --fleet fleet"),
                  "none of broker, gateway, dashboard-key and the fleet's viewers");
  ASSERT_CONTAINS(session.expect(1, "fleet init new --name f --model none"), "none is not a model package");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "new"));
  (void)session.expect(2, "device add");
  (void)session.expect(2, "device add pi-1 --days 0");
  (void)session.expect(2, "fleet init new");
  fs::remove(session.folder / "fleet/ca/ca.key");
  ASSERT_CONTAINS(session.expect(1, "device add pi-1"), "where the authority's key is");
}

TEST("A signing request that the openssl command made enrols a device whose key never comes here") {
  const FleetSession session;
  session.init();
  const auto made =
      run_program({"openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                   "-keyout", "own.key", "-subj", "/CN=pi-1", "-out", "pi-1.csr"},
                  session.folder.path());
  if (!made.ok()) TEST_IGNORE_MESSAGE("the openssl command is not installed");
  ASSERT_CONTAINS(session.expect(1, "device add pi-2 --csr pi-1.csr"), "pi-1.csr: the request is for 'pi-1'");
  (void)session.expect(0, "device add pi-1 --csr pi-1.csr");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "fleet/devices/pi-1/device.key"));
  TEST_ASSERT_TRUE(fs::exists(session.folder / "fleet/devices/pi-1/device.crt"));
  ASSERT_CONTAINS(session.expect(1, "device renew pi-1 --csr pi-1.csr"), "belongs to device 'pi-1' already");
}

TEST("Revoking tells the running broker, which ends the device's session") {
  if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  const FleetSession session;
  session.init();
  (void)session.expect(0, "device add pi-1");
  const fs::path fleet = session.folder / "fleet";
  const testing::ConfiguredBroker broker(fleet / "broker/mosquitto.conf", session.port,
                                         session.folder / "log");
  const fs::path device = fleet / "devices/pi-1";
  const testing::MqttIdentity identity{device / "device.crt", device / "device.key", device / "ca.crt"};
  testing::RawMqttClient client(session.port, identity, "pi-1");
  TEST_ASSERT_TRUE(client.accepted());
  ASSERT_CONTAINS(session.expect(0, "device revoke pi-1"), "its session has ended");
  TEST_ASSERT_FALSE(client.alive());
  ASSERT_CONTAINS(session.run("fleet renew broker").output, "the broker reads its files again");
  ASSERT_CONTAINS(session.expect(0, "fleet refresh"), "the broker reads its files again");
  TEST_ASSERT_FALSE(testing::RawMqttClient(session.port, identity, "pi-1").accepted());
}

TEST("Viewers are added, listed, renewed, bundled and revoked") {
  const FleetSession session;
  session.init();
  ASSERT_CONTAINS(session.run("fleet viewer add anna --days 5").output,
                  "monitor --fleet fleet --identity anna");
  (void)session.expect(0, "fleet renew operator");
  ASSERT_CONTAINS(session.expect(0, "fleet viewer renew anna --days 9"), "has a new certificate until");
  ASSERT_CONTAINS(session.expect(0, "fleet viewer bundle anna -o anna.tar"), "keep it secret");
  TEST_ASSERT_TRUE(fs::status(session.folder / "anna.tar").permissions() == fs::perms(0600));
  const Json list = session.json("fleet viewer list");
  TEST_ASSERT_EQUAL_STRING("aflguard-viewer-list-1", list.at("schema").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_size_t(4, list.at("viewers").size());
  TEST_ASSERT_EQUAL_INT(8, list.at("viewers")[3].at("days_left").get<int>());
  ASSERT_CONTAINS(session.expect(0, "fleet viewer revoke anna"), "will refuse it when it starts");
  ASSERT_CONTAINS(session.run("fleet viewer list").output, "anna                     revoked");
  ASSERT_CONTAINS(session.expect(1, "fleet viewer revoke bob"), "has no viewer 'bob'");
  ASSERT_CONTAINS(session.expect(1, "device add dashboard"), "has a viewer 'dashboard' already");
  (void)session.expect(2, "fleet viewer add");
}

TEST("Many enrolments at once all end up in the book") {
  const FleetSession session;
  session.init();
  const auto all = run_program({"sh", "-c",
                                "for i in 1 2 3 4 5 6 7 8; do '" + testing::program("aflguard") +
                                    "' device add pi-$i --fleet fleet & done; wait"},
                               session.folder.path());
  ASSERT_OK(all);
  TEST_ASSERT_EQUAL_size_t_MESSAGE(8, session.json("device list").at("devices").size(), all->output.c_str());
}
