#pragma once

#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "firmware_sim/local_fleet/new_fleet.h"
#include "firmware_sim/local_fleet/running_fleet.h"
#include "fleet/folder/viewer_identity.h"
#include "tests/support/programs.h"
#include "tests/support/raw_mqtt_client.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

namespace aflguard::testing {
using namespace fleet;

/// A provisioned fleet named "f" in the folder "fleet" of a temporary folder, whose real programs run where
/// wanted.
struct TestFleet {
  TemporaryFolder temporary;
  SystemClock clock;
  std::uint16_t port = free_loopback_port();
  FleetSettings settings;
  OpensslAuthority authority;
  std::optional<Fleet> fleet;  ///< holds the folder's lock
  sim::RunningFleet programs{folder(), temporary / "logs"};

  explicit TestFleet(FleetSettings wanted = {}) : settings(std::move(wanted)), authority(provision()) {
    auto opened = Fleet::open(folder().root);
    ASSERT_OK(opened);
    fleet.emplace(std::move(opened).value());
  }

  void add(const std::string& name) {
    ASSERT_OK(fleet->add_device({name, std::nullopt, std::nullopt}, authority, clock));
  }
  /// Other programs may change the folder from now on; add() may not be called any more.
  void release() { fleet.reset(); }
  void start_broker() {
    if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
    ASSERT_OK(programs.launcher().start_broker());
  }
  void stop_broker() { programs.programs().stop_broker(); }

  [[nodiscard]] FleetFolder folder() const { return FleetFolder{temporary / "fleet"}; }
  [[nodiscard]] MqttIdentity device(const std::string& name) const {
    const auto place = folder().device(name);
    return {place / "device.crt", place / "device.key", place / "ca.crt"};
  }
  [[nodiscard]] MqttIdentity gateway() const {
    const auto place = folder().gateway();
    return {place / "gateway.crt", place / "gateway.key", place / "ca.crt"};
  }
  [[nodiscard]] MqttIdentity viewer(const std::string& name) const {
    const ViewerIdentity identity = viewer_identity(settings, folder(), name);
    return {identity.certificate(), identity.key(), identity.authority()};
  }
  [[nodiscard]] std::unique_ptr<RawMqttClient> connect(const MqttIdentity& identity,
                                                       const std::string& client_id = "x") const {
    return std::make_unique<RawMqttClient>(port, identity, client_id);
  }

 private:
  [[nodiscard]] OpensslAuthority provision() {
    settings.name = "f";
    settings.broker_port = port;
    auto made = sim::provision_fleet(folder().root, settings, std::nullopt, clock);
    ASSERT_OK(made);
    return std::move(made).value();
  }
};

/// A fleet of two devices, "pi-1" and "pi-2", whose broker runs; skips the test where there is none.
struct TwoDevices : TestFleet {
  explicit TwoDevices(const FleetSettings& wanted = {}) : TestFleet(wanted) {
    add("pi-1");
    add("pi-2");
    start_broker();
  }
};

}  // namespace aflguard::testing
