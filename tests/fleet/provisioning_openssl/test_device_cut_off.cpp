// Revoking and renewing while a real Mosquitto runs and devices are connected.
#include <csignal>

#include "core/system/atomic_file.h"
#include "fleet/broker_openssl/login_check.h"
#include "fleet/provisioning/broker_reload.h"
#include "fleet/provisioning_openssl/device_cut_off.h"
#include "tests/support/test_fleet.h"

using namespace aflguard;
using namespace aflguard::fleet;
using testing::TestFleet;
using testing::TwoDevices;
using namespace std::chrono_literals;

namespace {

struct LiveDevices : TwoDevices {
  using TwoDevices::TwoDevices;
  Result<CutOff> cut_off(const std::string& name, std::chrono::seconds timeout = 30s) {
    return cut_off_device(*fleet, name, authority, clock, timeout);
  }
};

}  // namespace

TEST("A revoked device is cut off while connected and cannot come back; others are not disturbed") {
  LiveDevices live;
  const auto gateway = live.connect(live.gateway());
  gateway->subscribe("aflguard/v1/f/up/+/update");
  const auto bad = live.connect(live.device("pi-1"));
  const auto good = live.connect(live.device("pi-2"));
  TEST_ASSERT_TRUE(bad->alive() && good->alive());

  const auto outcome = live.cut_off("pi-1");
  ASSERT_OK(outcome);
  TEST_ASSERT_TRUE(*outcome == CutOff::kDone);
  TEST_ASSERT_FALSE(bad->alive());
  TEST_ASSERT_FALSE(live.connect(live.device("pi-1"))->accepted());
  TEST_ASSERT_TRUE(good->alive() && gateway->alive());
  TEST_ASSERT_TRUE(good->publish("aflguard/v1/f/up/pi-2/update", "still here"));
  TEST_ASSERT_EQUAL_STRING("still here", gateway->receive()->payload.c_str());
  DeviceBook& book = live.fleet->book();
  TEST_ASSERT_TRUE(book.find("pi-1").value()->revoked);
  TEST_ASSERT_FALSE(book.find("pi-2").value()->revoked);
}

TEST("A revoked viewer is cut off while connected; other viewers go on watching") {
  LiveDevices live;
  ASSERT_OK(live.fleet->add_viewer("anna", std::nullopt, live.authority, live.clock));
  ASSERT_OK(reload_broker(live.fleet->settings(), live.fleet->folder()));
  const auto anna = live.connect(live.viewer("anna"));
  const auto other = live.connect(live.viewer("operator"));
  TEST_ASSERT_TRUE(anna->alive() && other->alive());
  const auto outcome = cut_off_viewer(*live.fleet, "anna", live.authority, live.clock, 30s);
  ASSERT_OK(outcome);
  TEST_ASSERT_TRUE(*outcome == CutOff::kDone);
  TEST_ASSERT_FALSE(anna->alive());
  TEST_ASSERT_FALSE(live.connect(live.viewer("anna"))->accepted());
  TEST_ASSERT_TRUE(other->alive());
}

TEST("Devices revoked one after the other all stay out, also after a restart of the broker") {
  LiveDevices live;
  ASSERT_OK(live.cut_off("pi-1"));
  ASSERT_OK(live.cut_off("pi-2"));
  ASSERT_OK(live.cut_off("pi-1"));  // can be repeated
  TEST_ASSERT_FALSE(live.connect(live.device("pi-1"))->accepted());
  TEST_ASSERT_FALSE(live.connect(live.device("pi-2"))->accepted());
  live.stop_broker();
  live.start_broker();
  TEST_ASSERT_FALSE(live.connect(live.device("pi-1"))->accepted());
  TEST_ASSERT_FALSE(live.connect(live.device("pi-2"))->accepted());
  TEST_ASSERT_TRUE(live.connect(live.gateway())->accepted());
}

TEST("The access list alone already silences a live session of a revoked device") {
  LiveDevices live;
  const auto gateway = live.connect(live.gateway());
  gateway->subscribe("aflguard/v1/f/up/+/update");
  const auto bad = live.connect(live.device("pi-1"));
  ASSERT_OK(live.fleet->revoke_device("pi-1", {}, live.authority, live.clock));
  ASSERT_OK(reload_broker(live.fleet->settings(), live.fleet->folder()));
  // The broker refuses the device's certificate from the moment when it has read the lists.
  while (live.connect(live.device("pi-1"))->accepted()) {
  }
  TEST_ASSERT_FALSE(bad->publish("aflguard/v1/f/up/pi-1/update", "too late") && gateway->alive() && [&] {
    const auto good = live.connect(live.device("pi-2"));
    good->publish("aflguard/v1/f/up/pi-2/update", "next");
    return gateway->receive()->payload != "next";
  }());
}

TEST("A broker that does not take the new list is reported; it does when it starts again") {
  FleetSettings deaf;
  deaf.reload_command = "true";
  LiveDevices live(deaf);
  const auto outcome = live.cut_off("pi-1", 1s);
  ASSERT_CONTAINS(testing::message_of(outcome), "still accepts revoked certificates");
  TEST_ASSERT_TRUE(live.fleet->book().find("pi-1").value()->revoked);
  live.stop_broker();
  live.start_broker();
  TEST_ASSERT_FALSE(live.connect(live.device("pi-1"))->accepted());
}

TEST("A failing reload command is reported with what it said") {
  FleetSettings failing;
  failing.reload_command = "echo no route >&2; exit 3";
  TestFleet live(failing);
  live.add("pi-1");
  const auto outcome = cut_off_device(*live.fleet, "pi-1", live.authority, live.clock, 1s);
  ASSERT_CONTAINS(testing::message_of(outcome), "ended with code 3: no route");
  TEST_ASSERT_TRUE(live.fleet->book().find("pi-1").value()->revoked);
}

TEST("Without a broker a device is revoked in the files, whichever process has the old number now") {
  TestFleet live;
  live.add("pi-1");
  const auto cut = [&] { return cut_off_device(*live.fleet, "pi-1", live.authority, live.clock, 1s); };
  auto outcome = cut();
  ASSERT_OK(outcome);
  TEST_ASSERT_TRUE(*outcome == CutOff::kBrokerNotRunning);
  // SIGHUP would end this test.
  ASSERT_OK(write_file_atomically(live.fleet->folder().broker_pid(), std::to_string(::getpid())));
  outcome = cut();
  ASSERT_OK(outcome);
  TEST_ASSERT_TRUE(*outcome == CutOff::kBrokerNotRunning);
}

TEST("A device is renewed while it is connected: old and new certificates work, and revoking ends both") {
  LiveDevices live;
  const auto folder = live.fleet->folder().device("pi-1");
  for (const char* name : {"device.crt", "device.key"}) {
    std::filesystem::copy_file(folder / name, live.temporary / name);
  }
  const testing::MqttIdentity old{live.temporary / "device.crt", live.temporary / "device.key",
                                  folder / "ca.crt"};
  const auto session = live.connect(old);
  ASSERT_OK(live.fleet->renew_device({"pi-1", {}, {}}, live.authority, live.clock));
  TEST_ASSERT_TRUE(session->alive());
  TEST_ASSERT_TRUE(live.connect(live.device("pi-1"))->accepted());
  TEST_ASSERT_TRUE(live.connect(old)->accepted());
  ASSERT_OK(live.cut_off("pi-1"));
  TEST_ASSERT_FALSE(live.connect(live.device("pi-1"))->accepted());
  TEST_ASSERT_FALSE(live.connect(old)->accepted());
}

TEST("The broker's certificate is renewed without ending a session") {
  LiveDevices live;
  const auto session = live.connect(live.device("pi-1"));
  ASSERT_OK(live.fleet->renew_role(FleetRole::kBroker, live.authority, live.clock));
  const auto told = reload_broker(live.fleet->settings(), live.fleet->folder());
  ASSERT_OK(told);
  TEST_ASSERT_TRUE(*told == BrokerReload::kTold);
  TEST_ASSERT_TRUE(session->alive());
  TEST_ASSERT_TRUE(live.connect(live.device("pi-2"))->accepted());
}

TEST("A process that is not the fleet's broker is named as such") {
  LiveDevices live;
  auto stranger = OpensslAuthority::create("other", live.clock.wall() - 1h, live.clock.wall() + 24h);
  ASSERT_OK(stranger);
  const auto credential =
      stranger->issue({"pi-1", CertificateUse::kClient, {}, live.clock.wall() - 1h, live.clock.wall() + 1h});
  ASSERT_OK(credential);
  ASSERT_CONTAINS(testing::message_of(
                      knock_at_broker("localhost", live.port, stranger->certificate_pem(), *credential, 5s)),
                  "is not this fleet's broker");
  live.stop_broker();
  ASSERT_CONTAINS(testing::message_of(
                      knock_at_broker("localhost", live.port, stranger->certificate_pem(), *credential, 5s)),
                  "cannot reach the broker at localhost:");
}
