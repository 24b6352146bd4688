#pragma once

#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "fleet/folder/viewer_identity.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning_openssl/openssl_authority.h"
#include "tests/support/raw_mqtt_client.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

namespace aflguard::testing {
using namespace fleet;

/// A provisioned fleet named "f" in a temporary folder, with a real broker where wanted.
struct LiveFleet {
  TemporaryFolder temporary;
  SystemClock clock;
  OpensslAuthority authority =
      OpensslAuthority::create("f", clock.wall() - kCertificateBackdating, clock.wall() + kAuthorityLifetime)
          .value();
  std::uint16_t port = free_loopback_port();
  std::optional<Fleet> fleet;
  std::optional<ConfiguredBroker> broker;

  explicit LiveFleet(FleetSettings settings = {}) {
    settings.name = "f";
    settings.broker_port = port;
    ASSERT_OK(create_fleet(temporary / "fleet", settings, authority, std::nullopt, clock));
    auto opened = Fleet::open(temporary / "fleet");
    ASSERT_OK(opened);
    fleet.emplace(std::move(opened).value());
  }

  void add(const std::string& name) {
    ASSERT_OK(fleet->add_device({name, std::nullopt, std::nullopt}, authority, clock));
  }
  void start_broker() {
    broker.emplace(fleet->folder().broker() / "mosquitto.conf", port, temporary / "broker.log");
    // It listens before it has read its certificates; with the first session it is wholly there.
    TEST_ASSERT_TRUE(connect(gateway())->accepted());
  }

  [[nodiscard]] MqttIdentity device(const std::string& name) const {
    const auto folder = fleet->folder().device(name);
    return {folder / "device.crt", folder / "device.key", folder / "ca.crt"};
  }
  [[nodiscard]] MqttIdentity gateway() const {
    const auto folder = fleet->folder().gateway();
    return {folder / "gateway.crt", folder / "gateway.key", folder / "ca.crt"};
  }
  [[nodiscard]] MqttIdentity viewer(const std::string& name) const {
    const ViewerIdentity identity = viewer_identity(fleet->settings(), fleet->folder(), name);
    return {identity.certificate(), identity.key(), identity.authority()};
  }
  [[nodiscard]] std::unique_ptr<RawMqttClient> connect(const MqttIdentity& identity,
                                                       const std::string& client_id = "x") const {
    return std::make_unique<RawMqttClient>(port, identity, client_id);
  }
};

}  // namespace aflguard::testing
