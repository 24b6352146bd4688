#include "bench/bench_fleet.h"

#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/bench_result.h"
#include "bench/offline/offline_gateway.h"
#include "bench/offline/scratch_folder.h"
#include "core/aggregation/reference_update.h"
#include "core/base/random.h"
#include "core/book/device_book.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/learning/data/idx.h"
#include "core/learning/data/npy.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "core/system/free_port.h"
#include "core/system/programs.h"
#include "core/telemetry/program_facts.h"
#include "firmware_sim/local_fleet/new_fleet.h"
#include "models/zoo/zoo_package.h"

namespace aflguard::bench {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kFleet = "bench";
/// Publishers sign a round's updates before it begins, all on the version of that moment.
constexpr std::size_t kMaxDelay = 1'000'000;
constexpr double kLearningRate = 1e-9;  // the model moves, and stays where its gradient is what devices send

std::size_t count_verdicts(std::string_view log) {
  std::size_t verdicts = 0;
  for_each_fact(
      log, [&](const ProgramFact& fact) { verdicts += std::holds_alternative<VerdictFact>(fact) ? 1 : 0; });
  return verdicts;
}

}  // namespace

BenchFleet::BenchFleet(StagedDirectory scratch, BenchModel model)
    : scratch_(std::move(scratch)),
      folder_{fs::absolute(scratch_.path()) / "fleet"},
      model_(model),
      programs_(folder_, fs::absolute(scratch_.path()) / "logs") {}

BenchFleet::~BenchFleet() = default;

Result<std::unique_ptr<BenchFleet>> BenchFleet::create(std::size_t devices, const std::string& host,
                                                       BenchModel model) {
  for (const char* program : {"aflguard-gateway", "aflguard-client", "aflguard-bench-peer"}) {
    TRY_STATUS(program_beside_us(program));
  }
  TRY(StagedDirectory scratch, scratch_folder());
  auto fleet = std::unique_ptr<BenchFleet>(new BenchFleet(std::move(scratch), model));
  TRY_STATUS(fleet->make(devices, host));
  TRY_STATUS(fleet->programs_.launcher().start_broker());
  return fleet;
}

Status BenchFleet::make(std::size_t devices, const std::string& host) {
  const SystemClock clock;
  host_ = host;
  TRY(port_, free_port(host));
  fleet::FleetSettings settings;
  settings.name = kFleet;
  settings.broker_host = host;
  settings.broker_port = port_;
  TRY(const ModelPackage package,
      models::build_zoo_package(model_ == BenchModel::kCnn ? "cnn" : "linear-regression"));
  const fs::path model = scratch_.path() / "model";
  TRY_STATUS(write_model_package(package, model));
  TRY(auto authority, sim::provision_fleet(folder_.root, settings, model, clock));
  TRY(fleet::Fleet fleet, fleet::Fleet::open(folder_.root));
  for (std::size_t i = 1; i <= devices; ++i) {
    fleet::DeviceRequest order;
    order.name = "device-" + std::to_string(i);
    TRY_STATUS(fleet.add_device(order, authority, clock));
  }
  TRY(const std::string key, read_text_file(folder_.gateway() / "gateway.key"));
  TRY(const OpensslSigner signer, OpensslSigner::from_pem(key));
  gateway_key_ = signer.public_key();
  return make_learning(package);
}

/// The trusted set, and the update that an honest device would send.
Status BenchFleet::make_learning(const ModelPackage& package) {
  model_hash_ = package.description.hash;
  dimension_ = package.description.dimension();
  if (model_ == BenchModel::kSmall) {
    return write_npy(scratch_.path() / "update.npy", std::vector<float>(dimension_, 1e-3F), {dimension_});
  }
  const Dataset trusted = noise_samples(kTrustedSamples);
  TRY_STATUS(write_npy(folder_.gateway() / "features.npy", std::get<std::vector<float>>(trusted.features),
                       {kTrustedSamples, 1, 28, 28}));
  TRY_STATUS(write_npy(folder_.gateway() / "labels.npy", trusted.labels, {kTrustedSamples}));
  TRY(auto runtime, OnnxRuntime::load());
  TRY(const auto theta, initial_theta(package, 1));
  TRY(auto trainer, make_onnx_trainer(std::move(runtime), package));
  TrustedSetReference source(*trainer, trusted);
  ReferenceUpdate reference;
  TRY_STATUS(source.compute(theta, 0, reference));
  return write_npy(scratch_.path() / "update.npy", reference.vector, {dimension_});
}

Status BenchFleet::write_gateway_settings(const BenchGatewaySettings& settings) const {
  std::ostringstream text;
  text << "[fleet]\nname = \"" << kFleet << "\"\n[broker]\nhost = \"" << host_ << "\"\nport = " << port_
       << "\n[identity]\ncertificate = \"gateway.crt\"\nkey = \"gateway.key\"\nca = \"ca.crt\"\n"
       << "[devices]\nbook = \"../devices.db\"\n[model]\npackage = \"../model\"\n"
       << "[training]\nlearning_rate = " << kLearningRate << "\nbatch_size = 32\n"
       << (model_ == BenchModel::kCnn
               ? "[guard]\nname = \"aflguard\"\nreference_interval = " +
                     std::to_string(settings.reference_interval) +
                     "\nmax_delay = " + std::to_string(kMaxDelay) +
                     "\n[trusted]\nformat = \"npy\"\nfeatures = \"features.npy\"\nlabels = \"labels.npy\"\n"
               : std::string("[guard]\nname = \"asyncsgd\"\n"))
       << "[limits]\n"
       << settings.limits << "[store]\nfile = \"state/gateway.db\"\n[replies]\nmodels_per_second = "
       << settings.models_per_second << "\n";
  return write_file_atomically(folder_.gateway() / "gateway.toml", text.str());
}

Status BenchFleet::start_gateway(const BenchGatewaySettings& settings) {
  TRY_STATUS(write_gateway_settings(settings));
  return programs_.launcher().start_gateway();
}

void BenchFleet::stop_gateway() {
  programs_.programs().stop_gateway();
}

/// Devices PREFIXn from `first` to `last` with the certificate of the first device, in the book alone.
Status BenchFleet::enrol_pretended(const std::string& prefix, std::size_t first, std::size_t last,
                                   std::string* private_keys) const {
  TRY(DeviceBook book, DeviceBook::open(folder_.device_book()));
  TRY(const auto pattern, book.find("device-1"));
  std::vector<Device> devices;
  for (std::size_t i = first; i <= last; ++i) {
    Device device = *pattern;
    device.name = prefix + std::to_string(i);
    TRY(const OpensslSigner signer, OpensslSigner::generate());
    device.keys.at(0).public_key = signer.public_key();
    if (private_keys != nullptr) {
      TRY(const std::string key, signer.private_pem());
      *private_keys += key;
    }
    devices.push_back(std::move(device));
  }
  return book.add(devices);
}

Status BenchFleet::pretend_devices(std::size_t count) {
  TRY(DeviceBook book, DeviceBook::open(folder_.device_book()));
  TRY(const auto state, book.state());
  TRY_STATUS(enrol_pretended("device-", state.devices + 1, count, nullptr));
  TRY(std::string rules, read_text_file(folder_.access_list()));
  rules += "\nuser device-1\ntopic readwrite aflguard/v1/" + name() +
           "/up/+/status\ntopic read aflguard/v1/" + name() + "/gateway/devices/+\n";
  TRY_STATUS(write_file_atomically(folder_.access_list(), rules));
  const pid_t broker = programs_.programs().pid(sim::kBrokerProgram);
  if (broker <= 0 || ::kill(broker, SIGHUP) != 0) return unavailable("the broker is gone");
  return {};
}

Status BenchFleet::enrol_crowd(std::size_t count) {
  std::string keys;
  TRY_STATUS(enrol_pretended("crowd-", 1, count, &keys));
  TRY_STATUS(write_file_atomically(scratch_.path() / "crowd.pem", keys));
  TRY(std::string rules, read_text_file(folder_.access_list()));
  const std::string fleet = "aflguard/v1/" + name();
  rules +=
      "\nuser device-1\ntopic write " + fleet + "/up/+/update\ntopic read " + fleet + "/down/+/verdict\n";
  TRY_STATUS(write_file_atomically(folder_.access_list(), rules));
  const pid_t broker = programs_.programs().pid(sim::kBrokerProgram);
  if (broker <= 0 || ::kill(broker, SIGHUP) != 0) return unavailable("the broker is gone");
  return {};
}

Result<LineProcess> BenchFleet::start_peer(const std::vector<std::string>& command) const {
  TRY(LineProcess process, LineProcess::start(command));
  TRY(const std::string answer, process.receive());
  if (answer != "ready") return unavailable(command.at(1) + ": " + answer);
  return process;
}

Result<LineProcess> BenchFleet::start_crowd() const {
  TRY(const fs::path peer, program_beside_us("aflguard-bench-peer"));
  return start_peer({peer.string(), "crowd", folder_.device("device-1").string(), "device", "device-1", host_,
                     std::to_string(port_), kFleet, model_hash_, to_hex(gateway_key_),
                     (scratch_.path() / "update.npy").string(), (scratch_.path() / "crowd.pem").string()});
}

Result<LineProcess> BenchFleet::start_flood(std::size_t device) const {
  TRY(const fs::path peer, program_beside_us("aflguard-bench-peer"));
  const std::string device_name = "device-" + std::to_string(device);
  return start_peer({peer.string(), "flood", folder_.device(device_name).string(), "device", device_name,
                     host_, std::to_string(port_), kFleet});
}

MqttOptions BenchFleet::device_options(std::size_t device) const {
  const std::string device_name = "device-" + std::to_string(device);
  const fs::path folder = folder_.device(device_name);
  MqttOptions options;
  options.host = host_;
  options.port = port_;
  options.client_id = device_name;
  options.tls = TlsFiles{folder / "ca.crt", folder / "device.crt", folder / "device.key"};
  return options;
}

std::string BenchFleet::name() {
  return kFleet;
}

Result<double> BenchFleet::gateway_peak_mb() {
  return peak_mb(programs_.programs().pid(sim::kGatewayProgram));
}

double BenchFleet::broker_cpu_seconds() {
  return cpu_seconds(programs_.programs().pid(sim::kBrokerProgram));
}

double BenchFleet::gateway_cpu_seconds() {
  const pid_t gateway = programs_.programs().pid(sim::kGatewayProgram);
  return gateway > 0 ? cpu_seconds(gateway) : 0;
}

Status BenchFleet::write_client_settings(std::size_t samples) const {
  const fs::path folder = folder_.device("device-1");
  Random random(11);
  std::vector<std::uint8_t> pixels(samples * 28 * 28);
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random.below(256));
  std::vector<std::uint8_t> labels(samples);
  for (auto& label : labels) label = static_cast<std::uint8_t>(random.below(10));
  TRY_STATUS(write_idx(folder / "images.idx", {samples, 28, 28}, pixels));
  TRY_STATUS(write_idx(folder / "labels.idx", {samples}, labels));
  std::ostringstream text;
  text << "[fleet]\nname = \"" << kFleet << "\"\ndevice = \"device-1\"\n[broker]\nhost = \"" << host_
       << "\"\nport = " << port_ << "\n[identity]\n[model]\npackage = \"../../model\"\n"
       << "[data]\nformat = \"idx\"\nimages = \"images.idx\"\nlabels = \"labels.idx\"\n";
  return write_file_atomically(folder / "client.toml", text.str());
}

Result<double> BenchFleet::client_peak_mb(std::size_t samples, std::size_t updates) {
  TRY_STATUS(write_client_settings(samples));
  constexpr const char* kDevice = "device-1";
  sim::FleetLauncher& launcher = programs_.launcher();
  TRY(const fs::path client, program_beside_us("aflguard-client"));
  TRY_STATUS(launcher.start_client(
      {kDevice, {client.string(), "--config", (folder_.device(kDevice) / "client.toml").string()}}));
  TRY_STATUS(launcher.wait_for(kDevice, "has not got " + std::to_string(updates) + " verdicts",
                               [updates](std::string_view log) { return count_verdicts(log) >= updates; }));
  TRY(const double peak, peak_mb(programs_.programs().pid(kDevice)));
  programs_.programs().stop_clients();
  return peak;
}

Result<LineProcess> BenchFleet::start_publisher(std::size_t device,
                                                const std::vector<std::string>& prefix) const {
  const std::string name = "device-" + std::to_string(device);
  TRY(const fs::path peer, program_beside_us("aflguard-bench-peer"));
  std::vector<std::string> command = prefix;
  for (const std::string& word :
       {peer.string(), std::string("publish"), folder_.device(name).string(), std::string("device"), name,
        host_, std::to_string(port_), std::string(kFleet), model_hash_, to_hex(gateway_key_),
        (scratch_.path() / "update.npy").string()}) {
    command.push_back(word);
  }
  TRY(LineProcess process, LineProcess::start(command));
  TRY(const std::string answer, process.receive());
  if (answer != "ready") return unavailable("publisher " + name + ": " + answer);
  return process;
}

Result<LineProcess> BenchFleet::start_counter() const {
  TRY(const fs::path peer, program_beside_us("aflguard-bench-peer"));
  TRY(LineProcess process, LineProcess::start({peer.string(), "count", folder_.gateway().string(), "gateway",
                                               "gateway", host_, std::to_string(port_), kFleet}));
  TRY(const std::string answer, process.receive());
  if (answer != "ready") return unavailable("counting subscriber: " + answer);
  return process;
}

Result<LineProcess> BenchFleet::start_message_counter(const std::string& viewer,
                                                      const std::vector<std::string>& guards) const {
  TRY(const fs::path peer, program_beside_us("aflguard-bench-peer"));
  std::vector<std::string> command = {peer.string(), "messages", folder_.viewer(viewer).string(), viewer,
                                      viewer,        host_,      std::to_string(port_),           kFleet};
  command.insert(command.end(), guards.begin(), guards.end());
  TRY(LineProcess process, LineProcess::start(command));
  TRY(const std::string answer, process.receive());
  if (answer != "ready") return unavailable("counter of messages: " + answer);
  return process;
}

Result<double> BenchFleet::sync_ms() const {
  const fs::path path = scratch_.path() / "sync";
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return io_error(path.string() + ": cannot be opened");
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) {
    const auto begin = Clock::now();
    const bool written =
        ::pwrite(file.get(), &i, sizeof i, 4096 * i) == sizeof i && ::fdatasync(file.get()) == 0;
    if (!written) break;
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  if (times.empty()) return io_error(path.string() + ": cannot be written");
  return summarise(std::move(times)).median;
}

Result<double> BenchFleet::floor_ms(std::size_t bytes) const {
  TRY(const fs::path peer, program_beside_us("aflguard-bench-peer"));
  TRY(LineProcess process,
      start_peer({peer.string(), "floor", std::to_string(bytes), (scratch_.path() / "floor").string()}));
  TRY_STATUS(process.send("go"));
  TRY(const std::string answer, process.receive());
  std::istringstream words(answer);
  std::string word;
  double cost = 0;
  if (!(words >> word >> cost) || word != "done")
    return internal_error("the floor's program said: " + answer);
  return cost;
}

}  // namespace aflguard::bench
