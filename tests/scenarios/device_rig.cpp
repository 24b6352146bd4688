#include "tests/scenarios/device_rig.h"

#include <cstdlib>
#include <thread>

#include "core/base/random.h"
#include "core/envelope/model_hash.h"
#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"
#include "models/zoo/zoo_package.h"
#include "tests/support/programs.h"
#include "tests/support/quiet_log.h"

namespace aflguard::testing {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;

/// Longer than anything takes; a test that waits this long has failed.
constexpr auto kLong = 60s;
constexpr std::size_t kWideFeatures = 20'000;
constexpr std::size_t kWideSamples = 12;

QuietLog& quiet_log() {
  static QuietLog log;
  return log;
}

std::string client_program() {
  return program("aflguard-client");
}

ModelMessage model_message(const ModelPackage& package) {
  ModelMessage model;
  model.fleet = "orchard";
  model.version = 100;
  model.model_hash = parse_model_hash(package.description.hash).value();
  model.batch_size = 8;
  model.learning_rate = 0.01;
  model.vector = initial_theta(package, 1).value();
  return model;
}

/// Skips before anything is made for a test that cannot run.
fs::path checked(const fs::path& folder) {
  if (!have_mosquitto()) TEST_IGNORE_MESSAGE("mosquitto is not installed; ./run setup installs it");
  return folder;
}

}  // namespace

void install_secret(const fs::path& from, const fs::path& to) {
  ASSERT_OK(write_file_atomically(to, read_text_file(from).value(), FileAccess::kOwnerOnly));
}

DeviceRig::DeviceRig(const ModelPackage& package)
    : authority(checked(folder.path()), "authority"),
      broker(folder.path(), authority),
      gateway_key(install_identity()) {
  ASSERT_OK(write_model_package(package, folder / "model"));
  gateway_bus = connect("gateway");
  gateway = std::make_unique<GatewayStandIn>(*gateway_bus, gateway_key, devices, model_message(package));
  gateway->start();
  bool connected = false;
  while (!connected) {
    auto event = gateway_bus->next_event(std::chrono::steady_clock::now() + kLong);
    TEST_ASSERT_TRUE_MESSAGE(event.has_value(), "the stand-in does not connect");
    connected = std::holds_alternative<BusConnected>(*event);
    gateway->handle(*event);
  }
}

MbedtlsSigner DeviceRig::install_identity() {
  const auto own = authority.issue("pi-1", CertificateUse::kClient);
  install_secret(own.key, folder / "device.key");
  fs::copy_file(own.certificate, folder / "device.crt");
  fs::copy_file(authority.certificate(), folder / "ca.crt");
  const auto key = MbedtlsSigner::from_pem(read_text_file(own.key).value());
  ASSERT_OK(key);
  ASSERT_OK(devices.add("pi-1", key->public_key()));

  const auto gateway_files = authority.issue("gateway", CertificateUse::kClient);
  const auto public_key =
      run_program({"openssl", "pkey", "-in", gateway_files.key.string(), "-pubout"}, folder.path());
  ASSERT_OK(public_key);
  ASSERT_OK(write_file_atomically(folder / "gateway.pem", public_key->output));
  auto signer = MbedtlsSigner::from_pem(read_text_file(gateway_files.key).value());
  ASSERT_OK(signer);
  return std::move(*signer);
}

std::unique_ptr<MqttBus> DeviceRig::connect(const std::string& name) {
  const auto own = authority.issue(name, CertificateUse::kClient);
  MqttOptions options;
  options.port = broker.port();
  options.client_id = name;
  options.tls = TlsFiles{authority.certificate(), own.certificate, own.key};
  options.shortest_backoff = 20ms;
  options.longest_backoff = 200ms;
  return std::move(MqttBus::create(options, quiet_log())).value();
}

void DeviceRig::write_config(const std::string& data, const std::string& extra) {
  ASSERT_OK(write_file_atomically(folder / "client.toml",
                                  "[fleet]\nname = \"orchard\"\ndevice = \"pi-1\"\n[broker]\nhost = "
                                  "\"localhost\"\nport = " +
                                      std::to_string(broker.port()) +
                                      "\nanswer_seconds = 1\n[status]\ninterval_seconds = 1\n[data]\n" +
                                      data + extra));
}

void DeviceRig::start_client(const std::vector<std::string>& launcher) {
  std::vector<std::string> command = launcher;
  command.insert(command.end(), {client_program(), "--config", (folder / "client.toml").string()});
  client.emplace(command, folder.path(), folder / "client.log");
}

int DeviceRig::end_client(int signal) {
  const int code = client->end(signal);
  client.reset();
  return code;
}

ProgramOutcome DeviceRig::run_client(const std::vector<std::string>& arguments) const {
  std::vector<std::string> command = {client_program()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  auto outcome = run_program(command, folder.path());
  ASSERT_OK(outcome);
  return *outcome;
}

void DeviceRig::until(const std::function<bool()>& done, const char* what) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) {
      TEST_FAIL_MESSAGE((std::string("never came: ") + what + "; the client said:\n" + client_log()).c_str());
    }
    // A look at files and logs now and then, without an event to wait for.
    if (auto event = gateway_bus->next_event(std::chrono::steady_clock::now() + 20ms))
      gateway->handle(*event);
  }
}

std::string DeviceRig::client_log() const {
  const auto text = read_text_file(folder / "client.log");
  return text.ok() ? *text : std::string();
}

std::string DeviceRig::status() const {
  return gateway->statuses.empty() ? std::string() : gateway->statuses.back();
}

ModelPackage wide_package() {
  models::ZooOptions options;
  options.features = kWideFeatures;
  options.classes = 10;
  return models::build_zoo_package("logistic-regression", options).value();
}

void write_wide_samples(const fs::path& folder) {
  Random random(1);
  std::vector<float> features(kWideSamples * kWideFeatures);
  for (float& feature : features) feature = static_cast<float>(random.uniform());
  std::vector<std::int64_t> labels(kWideSamples);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i % 10);
  ASSERT_OK(write_npy(folder / "x.npy", features, {kWideSamples, kWideFeatures}));
  ASSERT_OK(write_npy(folder / "y.npy", labels, {kWideSamples}));
}

}  // namespace aflguard::testing
