// The real program against a healthy fleet with a real broker, and against what goes wrong with one.
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/system/atomic_file.h"
#include "fleet/provisioning_openssl/authority_files.h"
#include "tests/scenarios/watched_fleet.h"
#include "tests/support/jumping_clock.h"
#include "tests/support/small_disk.h"

using namespace aflguard;
using namespace aflguard::fleet;
using testing::WatchedFleet;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Publishes a gateway's metrics, as often as a gateway would and more.
class PublishingGateway final {
 public:
  explicit PublishingGateway(const WatchedFleet& fleet, const Json& more = Json::object())
      : thread_([this, &fleet, more] {
          std::unique_lock lock(mutex_);
          do {
            fleet.publish_metrics(1234, more);
          } while (!ends_.wait_for(lock, std::chrono::milliseconds(200), [this] { return done_; }));
        }) {}
  PublishingGateway(const PublishingGateway&) = delete;
  PublishingGateway& operator=(const PublishingGateway&) = delete;
  ~PublishingGateway() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    ends_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ends_;
  bool done_ = false;
  std::thread thread_;
};

Json read_document(const ProgramOutcome& outcome, int code) {
  TEST_ASSERT_EQUAL_INT_MESSAGE(code, outcome.exit_code, outcome.output.c_str());
  Json document = Json::parse(outcome.output);
  TEST_ASSERT_EQUAL_STRING("aflguard-doctor-1", document.at("schema").get<std::string>().c_str());
  TEST_ASSERT_TRUE(document.at("content").get<bool>() == (code == 0));
  return document;
}

Json examine(const WatchedFleet& fleet, int code, const std::string& more = {}) {
  return read_document(fleet.run("doctor --json " + more, /*only_results=*/true), code);
}

std::string advice(const Json& finding) {
  return finding.at("advice").get<std::string>();
}

/// The worst finding of that check.
Json find(const Json& document, const std::string& check) {
  Json worst;
  for (const Json& finding : document.at("findings")) {
    if (finding.at("check") == check && (worst.is_null() || finding.at("level") != "ok")) worst = finding;
  }
  TEST_ASSERT_FALSE_MESSAGE(worst.is_null(), (check + " is missing in " + document.dump()).c_str());
  return worst;
}

void expect(const Json& document, const std::string& check, const std::string& level,
            const std::string& part) {
  const Json finding = find(document, check);
  TEST_ASSERT_EQUAL_STRING_MESSAGE(level.c_str(), finding.at("level").get<std::string>().c_str(),
                                   finding.dump().c_str());
  ASSERT_CONTAINS(finding.at("found").get<std::string>(), part);
  TEST_ASSERT_TRUE((level == "ok") == finding.at("advice").get<std::string>().empty());
}

void restart_broker(WatchedFleet& fleet) {
  fleet.played_gateway.reset();
  fleet.stop_broker();
  fleet.start();
}

}  // namespace

TEST("A healthy fleet makes the doctor content, and nobody notices the visit") {
  const WatchedFleet fleet;
  fleet.publish_all();
  testing::RawMqttClient viewer(fleet.port, fleet.viewer("operator"), "operator");
  viewer.subscribe("aflguard/v1/f/up/+/status");
  viewer.subscribe("aflguard/v1/f/gateway/devices/+");
  for (int i = 0; i < 5; ++i) TEST_ASSERT_TRUE(viewer.receive().has_value());  // what is kept
  {
    const PublishingGateway speaking(fleet);
    const Json document = examine(fleet, 0);
    for (const char* check : {"programs",
                              "program-mosquitto",
                              "onnx-runtime",
                              "clock",
                              "fleet",
                              "certificate-authority",
                              "certificate-broker",
                              "certificate-gateway",
                              "certificate-operator",
                              "certificate-doctor",
                              "certificate-devices",
                              "revocation-list",
                              "access-list",
                              "broker-configuration",
                              "broker",
                              "broker-message-limit",
                              "broker-qos",
                              "access-list-writing",
                              "access-list-reading",
                              "broker-strangers",
                              "gateway",
                              "server-update"}) {
      TEST_ASSERT_EQUAL_STRING_MESSAGE("ok", find(document, check).at("level").get<std::string>().c_str(),
                                       document.dump(1).c_str());
    }
    expect(document, "devices", "warning", "worst: pi-9, 97 % rejected");
    expect(document, "broker-message-limit", "ok", "16846848");
  }
  fleet.publish_status("pi-1", "ready");
  const auto next = viewer.receive();
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/f/up/pi-1/status", next->topic.c_str());
}

TEST("Without a fleet the doctor looks at the machine only") {
  const testing::TemporaryFolder folder;
  const auto outcome = run_program({WatchedFleet::program(), "doctor"}, folder.path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
  ASSERT_CONTAINS(outcome->output, "ONNX Runtime");
  ASSERT_CONTAINS(outcome->output, "content");
}

TEST("Files that are wrong are named, with what to do") {
  WatchedFleet fleet;
  fleet.stop_broker();
  const FleetFolder folder{fleet.temporary / "fleet"};
  auto authority = load_authority(folder);
  ASSERT_OK(authority);
  const auto now = std::chrono::system_clock::now();
  const auto renew = [&](const char* name, const fs::path& place, std::chrono::hours from,
                         std::chrono::hours to) {
    const auto key = read_text_file(place / (std::string(name) + ".key"));
    const auto made =
        authority->issue_for_key(*key, {name, CertificateUse::kClient, {}, now + from, now + to});
    ASSERT_OK(made);
    ASSERT_OK(write_file_atomically(place / (std::string(name) + ".crt"), made->pem));
  };
  using std::chrono::hours;
  renew("gateway", folder.gateway(), hours(-48), hours(-1));
  renew("operator", folder.operator_folder(), hours(-1), hours(100));
  renew("dashboard", folder.viewer("dashboard"), hours(30), hours(100));
  fs::permissions(folder.broker() / "broker.key", fs::perms(0644));
  fs::copy_file(folder.operator_folder() / "operator.key", folder.viewer("doctor") / "doctor.key",
                fs::copy_options::overwrite_existing);
  fs::permissions(folder.authority(), fs::perms(0755));
  ASSERT_OK(write_file_atomically(folder.revocation_list(), "nothing"));
  const std::string configuration = read_text_file(folder.broker() / "mosquitto.conf").value();
  const auto at = configuration.find("max_queued_bytes");
  ASSERT_OK(write_file_atomically(folder.broker() / "mosquitto.conf",
                                  configuration.substr(0, at) + "max_queued_bytes 1000\n" +
                                      configuration.substr(configuration.find('\n', at) + 1)));
  ASSERT_OK(write_file_atomically(folder.access_list(), "topic readwrite #\n"));
  fs::last_write_time(folder.device_book(), fs::file_time_type::clock::now() + hours(48));

  const Json document = examine(fleet, 1);
  expect(document, "certificate-gateway", "problem", "ended");
  ASSERT_CONTAINS(find(document, "certificate-gateway").at("advice").get<std::string>(),
                  "fleet renew gateway");
  expect(document, "certificate-operator", "warning", "ends");
  expect(document, "certificate-dashboard", "problem", "begins");
  expect(document, "certificate-broker", "problem", "mode 0644: others can read the key");
  ASSERT_CONTAINS(find(document, "certificate-broker").at("advice").get<std::string>(), "chmod 600");
  expect(document, "certificate-doctor", "problem", "is not the key of");
  expect(document, "permissions-authority", "problem", "open to others");
  expect(document, "revocation-list", "problem", "not a revocation list");
  expect(document, "broker-configuration", "problem", "max_queued_bytes is 1000, expected 629145600");
  expect(document, "access-list", "problem", "is not what the device book asks for");
  expect(document, "clock-files", "problem", "the clock says");
  expect(document, "broker", "problem", "");
  const ProgramOutcome text = fleet.run("doctor");
  TEST_ASSERT_EQUAL_INT(1, text.exit_code);
  ASSERT_CONTAINS(text.output, "-> chmod 600");
}

TEST("A broker that is down, and one of another fleet, are told apart") {
  WatchedFleet fleet;
  fleet.stop_broker();
  Json document = examine(fleet, 1);
  expect(document, "broker", "problem", "refused");
  ASSERT_CONTAINS(find(document, "broker").at("advice").get<std::string>(), "start the broker");
  (void)fleet.expect(0, "fleet init other --name other --broker-port " + std::to_string(fleet.port));
  const testing::ConfiguredBroker other(fleet.temporary / "other/broker/mosquitto.conf", fleet.port,
                                        fleet.temporary / "other.log");
  document = examine(fleet, 1);
  expect(document, "broker", "problem", "not this fleet's broker");
  ASSERT_CONTAINS(find(document, "broker").at("advice").get<std::string>(), "another fleet's broker");
}

TEST("An access list that is not in force shows, and so do open doors and small limits") {
  WatchedFleet fleet;
  const fs::path broker = fleet.temporary / "fleet/broker";
  const std::string configuration = read_text_file(broker / "mosquitto.conf").value();
  const auto with = [&](std::string text, const std::string& key, const std::string& line) {
    const auto at = text.find("\n" + key + " ") + 1;
    TEST_ASSERT_TRUE(at > 0);
    return text.replace(at, text.find('\n', at) - at, line);
  };
  ASSERT_OK(write_file_atomically(broker / "acl", "pattern readwrite #\n"));
  std::string open = configuration;
  for (const auto& [key, value] :
       {std::pair("max_packet_size", "100000"), std::pair("require_certificate", "false"),
        std::pair("allow_anonymous", "true"), std::pair("use_identity_as_username", "false"),
        std::pair("use_username_as_clientid", "false"), std::pair("max_qos", "2")}) {
    open = with(open, key, std::string(key) + " " + value);
  }
  ASSERT_OK(write_file_atomically(broker / "mosquitto.conf", open));
  restart_broker(fleet);
  fleet.publish(
      "gateway/status",
      {{"schema", "aflguard-gateway-status-1"}, {"state", "ready"}, {"fleet", "f"}, {"message", ""}});
  const PublishingGateway speaking(fleet);
  const Json document = examine(fleet, 1);
  expect(document, "broker-configuration", "problem", "expected");
  expect(document, "access-list-writing", "problem", "where it may not write");
  expect(document, "access-list-reading", "problem", "which it may not");
  expect(document, "broker-message-limit", "problem", "100000");
  expect(document, "broker-qos", "warning", "QoS 2");
  expect(document, "broker-strangers", "problem", "no certificate");
}

TEST("A gateway that is silent is a problem, and so is a client's broken configuration") {
  const WatchedFleet fleet;
  fleet.publish_all();
  ASSERT_OK(write_file_atomically(fleet.temporary / "client.toml", "[fleet]\nname = 3\n"));
  const Json document = examine(fleet, 1, "--client-config client.toml");
  expect(document, "gateway", "problem", "the gateway is ready, and silent; it spoke last");
  expect(document, "client-configuration", "problem", "");
  expect(document, "access-list-writing", "ok", "refuses");
}

TEST(
    "A disk that is filling up is a warning, a full one a problem: the fleet's, a board's and the "
    "gateway's") {
  const WatchedFleet fleet;
  fleet.publish_all();
  constexpr std::size_t kMegabytes = 300;
  testing::SmallDisk disk(fleet.temporary / "small", kMegabytes);
  fs::copy(fleet.temporary / "fleet", fleet.temporary / "small/fleet", fs::copy_options::recursive);
  (void)fleet.expect(0, "fleet refresh --fleet small/fleet");  // its files name its folder
  ASSERT_OK(write_file_atomically(fleet.temporary / "small/client.toml", "[fleet]\nname = 3\n"));
  const PublishingGateway speaking(
      fleet, {{"store_free_bytes", 400'000'000}, {"store_total_bytes", 30'000'000'000}});
  const Json some_room = examine(fleet, 0, "--fleet small/fleet");
  expect(some_room, "disk", "warning", "are free where");
  ASSERT_CONTAINS(advice(find(some_room, "disk")), "free space");
  expect(some_room, "gateway-disk", "warning", "400 MB of 30 GB are free where the gateway's store is");

  disk.fill();
  const Json full = examine(fleet, 1, "--fleet small/fleet --client-config small/client.toml");
  expect(full, "disk", "problem", "0 B of");
  ASSERT_CONTAINS(advice(find(full, "disk")), "what cannot be stored is not answered");
  expect(full, "client-disk", "problem", "0 B of");
  expect(full, "access-list-writing", "ok", "refuses");  // it goes on looking
}

TEST("A clock that is wrong shows beside certificates and the gateway's clock") {
  const WatchedFleet fleet;
  fleet.publish_all();
  const PublishingGateway speaking(fleet);
  testing::JumpingClock clock(fleet.temporary.path());
  const auto examine_at = [&](const std::string& offset, int code) {
    clock.set(offset);
    std::string environment = "env ";
    for (const std::string& variable : clock.environment()) environment += variable + " ";
    const auto outcome =
        run_program({"env", "AFLGUARD_FLEET=fleet", "sh", "-c",
                     environment + "'" + WatchedFleet::program() + "' doctor --json 2>/dev/null"},
                    fleet.temporary.path());
    ASSERT_OK(outcome);
    return read_document(*outcome, code);
  };
  (void)examine_at("+0", 0);
  const Json early = examine_at("-20d", 1);
  expect(early, "certificate-gateway", "problem", "begins");
  ASSERT_CONTAINS(advice(find(early, "certificate-gateway")), "set the clock");
  expect(early, "broker", "problem", "not yet valid");
  ASSERT_CONTAINS(advice(find(early, "broker")), "set the clock");
  const Json late = examine_at("+6h", 1);
  expect(late, "clock-gateway", "problem", "the gateway's clock says");
  ASSERT_CONTAINS(advice(find(late, "clock-gateway")), "set the clocks");
}

TEST("A broker whose certificate has ended is told by file and by connection") {
  WatchedFleet fleet;
  const FleetFolder folder{fleet.temporary / "fleet"};
  auto authority = load_authority(folder);
  ASSERT_OK(authority);
  const auto key = read_text_file(folder.broker() / "broker.key");
  const auto now = std::chrono::system_clock::now();
  using std::chrono::hours;
  const auto ended = authority->issue_for_key(
      *key, {"broker", CertificateUse::kServer, {"DNS:localhost"}, now - hours(48), now - hours(1)});
  ASSERT_OK(ended);
  ASSERT_OK(write_file_atomically(folder.broker() / "broker.crt", ended->pem));
  fleet.played_gateway.reset();
  fleet.stop_broker();
  fleet.start_broker();
  const Json document = examine(fleet, 1);
  expect(document, "certificate-broker", "problem", "ended");
  expect(document, "broker", "problem", "expired");
  ASSERT_CONTAINS(advice(find(document, "broker")), "aflguard fleet renew broker");
}
