#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/learning/model_package.h"
#include "core/system/child_process.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "tests/edge_client/gateway_stand_in.h"
#include "tests/support/background_process.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

namespace aflguard::testing {

/// The real client program beside a real broker with mutual TLS, and a gateway's stand-in in the test itself:
/// no fleet, so not on TestFleet. Everything that the client reads lies in `folder`, with names that
/// client.toml's defaults expect.
class DeviceRig {
 public:
  /// Skips the test where there is no Mosquitto.
  explicit DeviceRig(const ModelPackage& package);

  /// client.toml, with `extra` (sections and keys) behind what every test needs. `data`: keys of [data].
  void write_config(const std::string& data, const std::string& extra = {});
  /// The client, started by `launcher` if given (a command that runs the command behind it).
  void start_client(const std::vector<std::string>& launcher = {});
  /// Its exit code.
  int end_client(int signal);
  /// The client with other arguments, until it ends.
  [[nodiscard]] ProgramOutcome run_client(const std::vector<std::string>& arguments) const;

  /// Handles what comes at the gateway until `done`; fails the test when that takes too long.
  void until(const std::function<bool()>& done, const char* what);
  [[nodiscard]] std::string client_log() const;
  /// The latest status of the client that the gateway saw; empty when there is none.
  [[nodiscard]] std::string status() const;
  [[nodiscard]] bool status_says(const std::string& text) const {
    return status().find(text) != std::string::npos;
  }

  TemporaryFolder folder;
  TestAuthority authority;
  TestBroker broker;
  KeyTable devices;
  MbedtlsSigner gateway_key;
  std::unique_ptr<MqttBus> gateway_bus;
  std::unique_ptr<GatewayStandIn> gateway;
  std::optional<BackgroundProcess> client;

 private:
  [[nodiscard]] MbedtlsSigner install_identity();
  [[nodiscard]] std::unique_ptr<MqttBus> connect(const std::string& name);
};

/// `from` is copied to `to` with mode 0600.
void install_secret(const std::filesystem::path& from, const std::filesystem::path& to);

/// Softmax regression on 20,000 features with random samples in x.npy and y.npy below `folder`: an update of
/// 800 KB, so that sending takes a while, and training none.
[[nodiscard]] ModelPackage wide_package();
void write_wide_samples(const std::filesystem::path& folder);
inline constexpr const char* kWideData = "format = \"npy\"\nfeatures = \"x.npy\"\nlabels = \"y.npy\"\n";

}  // namespace aflguard::testing
