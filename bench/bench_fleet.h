#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/clients/process_figures.h"
#include "bench/line_process.h"
#include "core/identity/signature.h"
#include "core/learning/model_package.h"
#include "core/system/atomic_file.h"
#include "core/transport_mqtt/mqtt_options.h"
#include "firmware_sim/local_fleet/running_fleet.h"
#include "fleet/folder/fleet_folder.h"

namespace aflguard::bench {

/// Settings of the gateway that a benchmark varies.
struct BenchGatewaySettings {
  double models_per_second = 0;  ///< verdicts that carry the model
  std::uint64_t reference_interval = 10;
  std::string limits = {};  ///< lines of [limits]
};

/// What a benchmark's fleet trains.
enum class BenchModel {
  kCnn,    ///< the zoo's CNN with AFLGuard and a trusted set of noise: updates of 560 KB
  kSmall,  ///< linear regression without a guard: updates of a few hundred bytes
};

/// A whole fleet in a temporary folder, made like `aflguard fleet init` makes one: authority, broker with
/// TLS, gateway, devices. Its programs are the real ones and run on this machine until the object is gone.
class BenchFleet final {
 public:
  static constexpr std::size_t kTrustedSamples = 100;

  /// The zoo's CNN, a trusted set of noise, `devices` devices "device-1" and on, and a running broker that
  /// listens on `host`. kNotFound when Mosquitto or a program of ours is missing.
  [[nodiscard]] static Result<std::unique_ptr<BenchFleet>> create(std::size_t devices,
                                                                  const std::string& host = "127.0.0.1",
                                                                  BenchModel model = BenchModel::kCnn);
  ~BenchFleet();

  /// Starts aflguard-gateway and returns when it serves. The store stays from start to start.
  [[nodiscard]] Status start_gateway(const BenchGatewaySettings& settings);
  /// As an operator stops it.
  void stop_gateway();
  /// Peak resident memory of the running gateway.
  [[nodiscard]] Result<double> gateway_peak_mb();

  /// Starts the real aflguard-client as device 1 with `samples` samples of noise, waits until the gateway has
  /// judged `updates` of its updates, and ends it. Its peak resident memory.
  [[nodiscard]] Result<double> client_peak_mb(std::size_t samples, std::size_t updates);

  /// `device` counts from 1. Connected when this returns. `prefix` is put before the command.
  [[nodiscard]] Result<LineProcess> start_publisher(std::size_t device,
                                                    const std::vector<std::string>& prefix = {}) const;
  /// The counting subscriber, in the gateway's place.
  [[nodiscard]] Result<LineProcess> start_counter() const;
  /// Nothing but Paho: counts, as that viewer, what the guards match. A line asks it how many came so far.
  [[nodiscard]] Result<LineProcess> start_message_counter(const std::string& viewer,
                                                          const std::vector<std::string>& guards) const;

  /// The book holds devices "device-1" to "device-<count>" then; those that were not there have no
  /// certificate, and device 1 may publish on all their status topics, and read them and what the gateway
  /// publishes of devices. Before the gateway starts.
  [[nodiscard]] Status pretend_devices(std::size_t count);
  /// The book holds devices "crowd-1" to "crowd-<count>" too, each with a key; device 1 may send updates and
  /// read verdicts for all of them. Before the gateway starts.
  [[nodiscard]] Status enrol_crowd(std::size_t count);
  /// A process that plays them all over the connection of device 1. Connected when this returns.
  [[nodiscard]] Result<LineProcess> start_crowd() const;
  /// A process that floods the gateway as that device, from one line on until the next.
  [[nodiscard]] Result<LineProcess> start_flood(std::size_t device) const;
  /// How a device that was made connects.
  [[nodiscard]] MqttOptions device_options(std::size_t device) const;
  [[nodiscard]] static std::string name();

  [[nodiscard]] double broker_cpu_seconds();
  [[nodiscard]] double gateway_cpu_seconds();
  [[nodiscard]] std::size_t dimension() const { return dimension_; }
  [[nodiscard]] std::filesystem::path root() const { return folder_.root; }
  /// Milliseconds that a small durable write takes here: median of a few.
  [[nodiscard]] Result<double> sync_ms() const;
  /// Milliseconds of CPU time for what no gateway can leave out of an update of `bytes` bytes
  /// (bench/peer/floor.h), in a process that does nothing else.
  [[nodiscard]] Result<double> floor_ms(std::size_t bytes) const;

 private:
  BenchFleet(StagedDirectory scratch, BenchModel model);
  [[nodiscard]] Status make(std::size_t devices, const std::string& host);
  [[nodiscard]] Status enrol_pretended(const std::string& prefix, std::size_t first, std::size_t last,
                                       std::string* private_keys) const;
  [[nodiscard]] Result<LineProcess> start_peer(const std::vector<std::string>& command) const;
  [[nodiscard]] Status make_learning(const ModelPackage& package);
  [[nodiscard]] Status write_gateway_settings(const BenchGatewaySettings& settings) const;
  [[nodiscard]] Status write_client_settings(std::size_t samples) const;

  StagedDirectory scratch_;
  fleet::FleetFolder folder_;
  const BenchModel model_;
  std::string host_;
  std::uint16_t port_ = 0;
  std::string model_hash_;
  PublicKey gateway_key_{};
  std::size_t dimension_ = 0;
  sim::RunningFleet programs_;
};

}  // namespace aflguard::bench
