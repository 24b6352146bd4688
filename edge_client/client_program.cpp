#include "edge_client/client_program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <malloc.h>
#include <random>

#include "core/base/clock.h"
#include "core/base/rfc3339.h"
#include "core/base/sha256.h"
#include "core/base/version.h"
#include "core/envelope/model_hash.h"
#include "core/identity/pem_limit.h"
#include "core/identity_mbedtls/mbedtls_certificate.h"
#include "core/identity_mbedtls/mbedtls_verifier.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "core/release/package_archive.h"
#include "core/system/atomic_file.h"
#include "core/system/service_notify.h"
#include "core/system/stop_signal.h"
#include "core/telemetry/device_status.h"
#include "core/telemetry/program_facts.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "edge_client/client_engine.h"
#include "edge_client/device_files.h"
#include "edge_client/identity.h"
#include "edge_client/predict.h"
#include "edge_client/renewing/certificate_renewal.h"
#include "edge_client/settings_reload.h"
#include "edge_client/status/board_readings.h"
#include "edge_client/training/local_evaluation.h"
#include "edge_client/upgrading/model_upgrade.h"

namespace aflguard::edge {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kGoodbye(3);
/// TCP, TLS and the broker's answer together. On a busy board the first handshake alone may take more than
/// ten seconds.
constexpr std::chrono::seconds kConnectTimeout(30);
/// Events that are handled in a row before the engine gets its turn.
constexpr int kEventsPerTurn = 256;
constexpr std::chrono::milliseconds kBetweenCollections(500);
/// Samples on which a new model is tried.
constexpr std::uint32_t kTrialBatch = 8;

enum class Ending : std::uint8_t { kStopped, kAgain };

/// What the configuration names, loaded and checked.
struct Loaded {
  DeviceIdentity identity;
  ModelDescription model;
  ModelHash model_hash{};
  std::unique_ptr<Trainer> trainer;
  std::unique_ptr<SampleSource> source;
  std::size_t samples = 0;
  ModelPackage export_parts;       ///< of the package, what an export needs; empty without one
  std::vector<float> calibration;  ///< for the evaluation on this board's own samples; empty without one
};

Result<std::unique_ptr<SampleSource>> make_source(const ClientConfig& config, const ModelDescription& model,
                                                  LogSink& log, std::size_t& samples) {
  if (config.follow) {
    return std::unique_ptr<SampleSource>(
        std::make_unique<GrowingSamples>(CsvFollower(config.data.features.string(), config.data.features,
                                                     csv_options(config.data, model), config.keep_samples),
                                         log));
  }
  TRY(Dataset data, load_dataset(config.data, model));
  samples = data.size();
  if (data.left_out > 0) {
    log.info(std::to_string(data.left_out) + " rows of " + data.name +
             " are left out because a cell has no value");
  }
  return std::unique_ptr<SampleSource>(std::make_unique<FixedSamples>(std::move(data)));
}

/// The export's part of the package, and whether it can be written at all.
Result<ModelPackage> export_parts(const ClientConfig& config, const ModelPackage& package) {
  ModelPackage parts;
  if (config.model_export.file.empty()) return parts;
  if (Status fits = check_exportable(package); !fits.ok()) return at("[model] export", fits.error());
  std::error_code error;
  const auto folder = config.model_export.file.parent_path();
  // The state's own folder is made at the start.
  if (!folder.empty() && folder != config.state_folder && !std::filesystem::is_directory(folder, error)) {
    return not_found("[model] export: the folder " + folder.string() + " does not exist");
  }
  parts.description = package.description;
  parts.inference_graph = package.inference_graph;
  parts.calibration = package.calibration;
  return parts;
}

/// Before anything is connected: a client that the kernel ends for want of memory says nothing.
Status check_memory(const ModelDescription& model) {
  constexpr std::size_t kProgramMegabytes = 40;
  constexpr std::size_t kModels = 6;  // parameters, update, what is sent and what is received
  const std::size_t wanted = kProgramMegabytes + (kModels * model.dimension() * sizeof(float) >> 20);
  const auto limit = memory_limit_mb();
  if (!limit || wanted <= *limit) return {};
  return invalid_input("model '" + model.name + "' has " + std::to_string(model.dimension()) +
                       " parameters: the client needs up to " + std::to_string(wanted) +
                       " MB for it, and this board lets it have " + std::to_string(*limit) +
                       " MB; train a smaller model");
}

/// A certificate that the fleet's authority gave this device for that key.
Result<Certificate> check_renewed(const ClientConfig& config, const std::string& certificate_pem,
                                  const std::string& key_pem) {
  TRY(const MbedtlsSigner signer, MbedtlsSigner::from_pem(key_pem));
  TRY(const Certificate certificate, read_certificate_pem(certificate_pem));
  TRY_STATUS(check_identity(certificate, signer.public_key(), config.device, SystemClock().wall()));
  TRY(const std::string ca, read_text_file(config.ca, kMaxPemBytes));
  TRY_STATUS(check_issuer(certificate_pem, ca));
  return certificate;
}

RenewalSettings renewal_settings(const ClientConfig& config, const DeviceIdentity& identity) {
  return {config.fleet, config.device, identity.certificate, config.state_folder};
}

RenewalParts renewal_parts(const ClientConfig& config, MessageBus& bus, EnvelopeSealer& sealer,
                           const Clock& clock, LogSink& log) {
  return {.bus = bus,
          .sealer = sealer,
          .clock = clock,
          .log = log,
          .new_key = []() -> Result<std::string> {
            TRY(const MbedtlsSigner made, MbedtlsSigner::generate());
            return made.private_pem();
          },
          .request_for = [device = config.device](const std::string& key_pem) -> Result<std::string> {
            TRY(const MbedtlsSigner key, MbedtlsSigner::from_pem(key_pem));
            return make_certificate_request(key, device);
          },
          .check =
              [&config](const std::string& certificate_pem, const std::string& key_pem) {
                return check_renewed(config, certificate_pem, key_pem);
              }};
}

Result<Loaded> load(const ClientConfig& config, LogSink& log) {
  TRY(DeviceIdentity identity, read_device_identity(config, SystemClock().wall()));
  TRY(ModelPackage package, read_model_package(config.model_package));
  const ModelDescription model = package.description;
  TRY_STATUS(check_memory(model));
  TRY(const ModelHash hash, parse_model_hash(model.hash));
  std::size_t samples = 0;
  TRY(auto source, make_source(config, model, log, samples));
  TRY(auto runtime, OnnxRuntime::load(config.runtime.value_or(std::filesystem::path())));
  OnnxTrainerOptions options;
  options.threads = config.threads;
  options.release_file_pages = true;
  TRY(auto parts, export_parts(config, package));
  std::vector<float> calibration;
  if (config.hold_back > 0) calibration = package.calibration;
  TRY(auto trainer, make_onnx_trainer(std::move(runtime), std::move(package), options));
  return Loaded{
      std::move(identity),   model, hash, std::move(trainer), std::move(source), samples, std::move(parts),
      std::move(calibration)};
}

/// The same for one device at all times, and different on every other.
std::uint64_t seed_from_name(const std::string& device) {
  const Sha256Digest digest = sha256(std::as_bytes(std::span(device)));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof(number); ++i) number = number << 8 | digest[i];
  return number;
}

std::uint64_t random_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

EngineSettings engine_settings(const ClientConfig& config, const Loaded& loaded) {
  EngineSettings settings;
  settings.membership = {config.fleet, config.device, loaded.model_hash, loaded.model.dimension()};
  const LiveSettings live = live_settings(config);
  settings.answer = live.answer;
  settings.status_interval = live.status_interval;
  settings.encoding = live.encoding;
  settings.jitter_seed = seed_from_name(config.device);
  settings.software = kVersion;
  settings.model_name = loaded.model.name;
  settings.certificate_until = loaded.identity.certificate.not_after;
  return settings;
}

MqttOptions bus_options(const ClientConfig& config, const EngineSettings& settings,
                        const FleetTopics& topics) {
  MqttOptions options;
  options.host = config.host;
  options.port = config.port;
  options.client_id = config.device;
  options.tls = TlsFiles{config.ca, config.certificate, config.key};
  options.connect_timeout = kConnectTimeout;
  if (config.protocol == "5") options.protocol = MqttProtocol::kMqtt5;
  if (config.protocol == "3.1.1") options.protocol = MqttProtocol::kMqtt311;
  options.jitter_seed = settings.jitter_seed;
  // Room for a verdict with its model and a retained model, and a little more. Of the retained one, which
  // comes again and again while this device trains, only the newest counts.
  const std::size_t topic_bytes = settings.membership.dimension * sizeof(float) + (1U << 20);
  options.max_queued_bytes = 2 * topic_bytes;
  options.max_queued_bytes_per_topic = topic_bytes;
  const std::string json = to_json(last_will(config.device, settings.software));
  const auto bytes = std::as_bytes(std::span(json));
  options.last_will =
      LastWill{{topics.device_status(config.device), Bytes(bytes.begin(), bytes.end()), /*retained=*/true}};
  return options;
}

/// Reports to systemd that this process works, twice as often as systemd asks for.
class Watchdog final {
 public:
  void beat() {
    const auto now = steady_clock::now();
    if (!interval_ || now < next_) return;
    notify_watchdog();
    next_ = now + *interval_ / 2;
  }
  [[nodiscard]] steady_clock::time_point next() const {
    return interval_ ? next_ : steady_clock::time_point::max();
  }

 private:
  std::optional<std::chrono::microseconds> interval_ = watchdog_interval();
  steady_clock::time_point next_{};
};

/// Tells `systemctl status` how things are, now and then.
class ServiceStatus final {
 public:
  void show(const DeviceStatus& status) {
    const auto now = steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(5);
    std::string text = std::string(to_string(status.state)) + ", " +
                       std::to_string(status.accepted.value_or(0)) + " updates accepted, " +
                       std::to_string(status.rejected.value_or(0)) + " rejected";
    if (!status.message.empty()) text += "; " + status.message;
    notify_status(text);
  }

 private:
  steady_clock::time_point next_{};
};

/// Rows that come on a topic, where the configuration names one.
struct TopicRowsParts {
  std::unique_ptr<MessageBus> bus;
  std::optional<TopicRows> rows;
};

Result<TopicRowsParts> start_topic(const ClientConfig& config, LogSink& log) {
  TopicRowsParts parts;
  if (!config.topic) return parts;
  const TopicSource& source = *config.topic;
  MqttOptions options;
  options.host = source.host;
  options.port = source.port;
  options.client_id = "aflguard-" + config.device;
  if (source.ca) options.tls = TlsFiles{*source.ca, source.certificate, source.key};
  options.jitter_seed = seed_from_name(config.device);
  TRY(parts.bus, MqttBus::create(options, log));
  TRY(auto rows, TopicRows::open(source.rows, config.data.features, *parts.bus, log));
  parts.rows.emplace(std::move(rows));
  TRY_STATUS(parts.bus->start());
  return parts;
}

/// What stands beside the engine and works in its loop.
struct BesideEngine {
  LocalEvaluation& evaluation;
  ModelExport& model_export;
  CertificateRenewal& renewal;
  TopicRows* topic_rows;  ///< may be null

  /// What was measured of the model at hand.
  [[nodiscard]] std::optional<double> error_of(const ModelMessage* model) const {
    const auto& measured = evaluation.newest();
    if (model == nullptr || !measured || measured->version != model->version) return std::nullopt;
    return measured->error;
  }

  /// Does what is due; when to come again.
  steady_clock::time_point step(ClientEngine& engine) {
    auto due = evaluation.step(engine.model());
    if (const auto& measured = evaluation.newest()) {
      engine.measured({measured->error, measured->version, measured->samples});
    }
    due = std::min(due, model_export.step(engine.model(), error_of(engine.model())));
    engine.report(Alert::kExport, model_export.problem());
    due = std::min<steady_clock::time_point>(due, renewal.step());
    if (!renewal.problem().empty()) engine.report(Alert::kCertificate, renewal.problem());
    if (topic_rows != nullptr) {
      const Status collected = topic_rows->collect();
      engine.report(Alert::kSamples, collected.ok() ? std::string() : collected.error().message);
      due = std::min<steady_clock::time_point>(due, steady_clock::now() + kBetweenCollections);
    }
    return due;
  }
};

void run_engine(ClientEngine& engine, BesideEngine beside, MessageBus& bus, const StopSignal& stop,
                SettingsReload& reload, Watchdog& watchdog) {
  ServiceStatus service;
  while (!stop.requested() && !engine.change_due() && !beside.renewal.renewed()) {
    watchdog.beat();
    if (const auto settings = reload.take()) engine.change(*settings);
    const auto beside_due = beside.step(engine);
    const auto due = std::min(engine.step(), beside_due);
    service.show(engine.status());
    auto event = bus.next_event(std::min(due, watchdog.next()));
    for (int i = 0; event && i < kEventsPerTurn && !stop.requested(); ++i) {
      beside.renewal.notice(*event);
      engine.handle(std::move(*event));
      event = bus.next_event({});
    }
    if (event) engine.handle(std::move(*event));
  }
  if (stop.requested()) notify_stopping();
  engine.say_goodbye();
  const auto deadline = steady_clock::now() + kGoodbye;
  while (!engine.goodbye_said()) {
    auto event = bus.next_event(deadline);
    if (!event) break;
    engine.handle(std::move(*event));
  }
  bus.stop();
}

/// One training step on this device's samples, from the parameters that the fleet starts the package with.
Result<std::string> try_package(const ClientProgram& program, ClientConfig config,
                                const std::filesystem::path& package, LogSink& log,
                                const LocalTraining::KeepGoing& keep_going) {
  config.model_package = package;
  TRY(const Loaded loaded, load(config, log));
  ModelMessage model;
  model.fleet = config.fleet;
  model.model_hash = loaded.model_hash;
  model.batch_size = kTrialBatch;
  model.learning_rate = 1;  // one local step: it has no effect
  TRY(model.vector, read_start(package, loaded.model));
  TRY(const auto training, program.make_training({config, *loaded.trainer, *loaded.source, 1, log}));
  TRY(const TrainedUpdate update, training->train(model, keep_going));
  const bool finite =
      std::isfinite(update.loss) && std::all_of(update.vector.begin(), update.vector.end(),
                                                [](float value) { return std::isfinite(value); });
  if (!finite) return invalid_input("loss or gradient at its first parameters is not finite");
  char text[80];
  std::snprintf(text, sizeof(text), "loss %.3g on %llu samples", update.loss,
                static_cast<unsigned long long>(update.samples));
  return std::string(text);
}

/// Until a signal, or until there is a new identity or another model to go on with.
Result<Ending> run_once(const ClientProgram& program, const ClientConfig& given, SettingsReload& reload,
                        LogSink& log) {
  ClientConfig config = with_renewed_identity(given, log);
  TRY(UpdateSpool spool, UpdateSpool::open(config.state_folder));
  TRY(ModelShelf shelf, ModelShelf::open(config.state_folder / "models", config.model_package));
  config.model_package = shelf.current();
  auto read = load(config, log);
  if (!read.ok() && shelf.go_back()) {
    log.error("the model that the fleet sent cannot be loaded (" + read.error().message +
              "); going on with the former one");
    return Ending::kAgain;
  }
  TRY(Loaded loaded, std::move(read));
  TRY(const FleetTopics topics, FleetTopics::create(config.fleet));
  TRY(const auto training, program.make_training({config, *loaded.trainer, *loaded.source,
                                                  config.seed.value_or(random_seed()), log}));
  const EngineSettings settings = engine_settings(config, loaded);
  TRY(const auto bus, MqttBus::create(bus_options(config, settings, topics), log));
  TRY(const auto stop, StopSignal::install([&bus] { bus->wake(); },
                                           [&] {
                                             reload.read();
                                             bus->wake();
                                           }));
  Watchdog watchdog;
  const SystemClock clock;
  const MbedtlsVerifier verifier;
  const EnvelopeOpener opener(loaded.identity.gateway_keys, verifier);
  EnvelopeSealer sealer(loaded.identity.signer);
  const auto keep_going = [&] {
    watchdog.beat();
    return !stop->requested();
  };
  EngineParts parts{*bus, sealer, opener, verifier, *training, spool, clock, log, cpu_time, keep_going};
  if (program.encode) parts.encode = program.encode;
  parts.board = [] { return read_board(); };
  ModelUpgrade upgrade({.membership = settings.membership,
                        .release = loaded.identity.release_keys,
                        .has_release_keys = loaded.identity.has_release_keys,
                        .verifier = verifier,
                        .bus = *bus,
                        .topics = topics,
                        .shelf = shelf,
                        .try_model =
                            [&](const std::filesystem::path& package) {
                              return try_package(program, config, package, log, keep_going);
                            },
                        .clock = clock,
                        .log = log});
  parts.upgrade = &upgrade;
  ClientEngine engine(settings, TrainingSchedule(config.schedule), topics, parts);
  reload.give_again();
  TRY_STATUS(engine.start());
  log.info("device '" + config.device + "' of fleet '" + config.fleet + "', broker " + config.host + ":" +
           std::to_string(config.port) + ", model " + loaded.model.name);
  notify_ready();
  ModelExport model_export(config.model_export, config.fleet, std::move(loaded.export_parts), *loaded.trainer,
                           clock, log);
  LocalEvaluation evaluation(HeldBack(config.hold_back), *loaded.trainer, *loaded.source,
                             std::move(loaded.calibration), clock, log);
  TRY(TopicRowsParts topic, start_topic(config, log));
  CertificateRenewal renewal(renewal_settings(config, loaded.identity), topics,
                             renewal_parts(config, *bus, sealer, clock, log));
  run_engine(engine, {evaluation, model_export, renewal, topic.rows ? &*topic.rows : nullptr}, *bus, *stop,
             reload, watchdog);
  if (topic.bus) topic.bus->stop();
  if (stop->requested()) {
    log.info("stopped");
    return Ending::kStopped;
  }
  log.info(engine.change_due() ? "going on with the fleet's model" : "going on with the new certificate");
  return Ending::kAgain;
}

Status run(const ClientProgram& program, const ClientConfig& config, SettingsReload& reload, LogSink& log) {
  while (true) {
    TRY(const Ending ending, run_once(program, config, reload, log));
    if (ending == Ending::kStopped) return {};
  }
}

Status test_config(const ClientConfig& given, LogSink& log) {
  const ClientConfig config = with_renewed_identity(given, log);
  TRY(const Loaded loaded, load(config, log));
  const std::string samples =
      config.follow ? "samples from a growing table" : std::to_string(loaded.samples) + " samples";
  std::printf("fine: device '%s' of fleet '%s', model %s with %zu parameters, %s\n", config.device.c_str(),
              config.fleet.c_str(), loaded.model.name.c_str(), loaded.model.dimension(), samples.c_str());
  return {};
}

/// For a board that has just been given its identity: samples and model may come later, and its clock may not
/// be set yet, so a certificate that begins in the future is not a mistake.
Status test_identity(const ClientConfig& given, bool json, LogSink& log) {
  const ClientConfig config = with_renewed_identity(given, log);
  TRY(const Certificate certificate, check_identity_files(config, SystemClock().wall()));
  if (json) {  // packaging/board/advance-clock reads this line
    const IdentityFact fact{config.fleet, config.device, certificate.not_before, certificate.not_after};
    std::printf("%s\n", to_line(fact).c_str());
    return {};
  }
  std::printf("fine: device '%s' of fleet '%s', certificate valid from %s until %s\n", config.device.c_str(),
              config.fleet.c_str(), to_rfc3339(certificate.not_before).c_str(),
              to_rfc3339(certificate.not_after).c_str());
  return {};
}

/// One line each, whatever file names brought into the message.
int report(const ClientProgram& program, std::string line) {
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') letter = ' ';
  }
  std::fprintf(stderr, "%s: %s\n", program.name.c_str(), line.c_str());
  return 1;
}

struct CommandLine {
  std::string config;
  bool predict = false;
  std::string rows;  ///< to predict; empty: those of standard input
  bool test_config = false;
  bool test_identity = false;
  bool json = false;
  std::string identity;
  std::string output;
};

/// systemd names the folder that it made for the unit (StateDirectory=).
std::filesystem::path default_state_folder() {
  const char* const given = std::getenv("STATE_DIRECTORY");
  return given != nullptr && *given == '/' ? given : "state";
}

int run_configured(const ClientProgram& program, const CommandLine& command, const ClientConfig& config,
                   SettingsReload& reload, LogSink& log) {
  const Status status = command.predict         ? predict_rows(config, command.rows, command.json)
                        : command.test_identity ? test_identity(config, command.json, log)
                        : command.test_config   ? test_config(config, log)
                                                : run(program, config, reload, log);
  return status.ok() ? 0 : report(program, status.error().message);
}

int run_with_config(const ClientProgram& program, const CommandLine& command) {
  auto file = read_client_file(command.config);
  if (!file.ok()) return report(program, file.error().message);
  const ClientConfig config = read_client_config(*file, default_state_folder());
  int code = 0;
  for (const std::string& problem : file->problems()) code = report(program, problem);
  if (code != 0) return code;
  StderrLog log(config.log_level);
  SettingsReload reload(*file, default_state_folder(), log);
  try {
    return run_configured(program, command, config, reload, log);
  } catch (const std::bad_alloc&) {
    return report(program, "there is not enough memory for this model and its samples");
  }
}

int run_command(const ClientProgram& program, const CommandLine& command) {
  if (command.identity.empty()) return run_with_config(program, command);
  const Status status = make_device_identity(command.identity, command.output);
  if (!status.ok()) return report(program, status.error().message);
  std::printf(
      "made %s/device.key and %s/device.csr; have the request signed with: aflguard device add %s "
      "--csr device.csr\n",
      command.output.c_str(), command.output.c_str(), command.identity.c_str());
  return 0;
}

/// A model's vectors come and go with every update. By default the C library keeps what they leave, in holes
/// that the next ones do not fill: blocks of this size go back to the system at once.
void keep_large_blocks_apart() {
  constexpr int kLargeBlock = 8 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  ::mallopt(M_TRIM_THRESHOLD, 2 * kLargeBlock);
}

/// `predict`: the program's one subcommand.
void add_predict(CLI::App& app, CommandLine& command) {
  CLI::App* predict =
      app.add_subcommand("predict", "Predict rows of a table (standard input) with the exported model");
  predict->add_option("--config", command.config, "configuration file (TOML)")->required();
  predict->add_option("--rows", command.rows, "table to predict (default: standard input)")
      ->check(CLI::ExistingFile);
  predict->add_flag("--json", command.json, "one JSON object per row");
  predict->footer(
      "One line for each row: the class and its probability, or the value; ? for a row that cannot be read.\n"
      "Rows may have the label's column or not; the keys of [data] say how they are written.\n\n"
      "Example:\n  aflguard-client predict --config /etc/aflguard/client.toml < rows.csv");
  predict->callback([&command] { command.predict = true; });
}

}  // namespace

int run_client_program(const ClientProgram& program, int argc, char** argv) {
  keep_large_blocks_apart();
  CLI::App app(program.about, program.name);
  app.set_version_flag("--version", kVersion);
  app.footer(
      "Examples:\n  " + program.name + " --config /etc/aflguard/client.toml --test-config\n  " +
      program.name + " --config /etc/aflguard/client.toml\n  " + program.name +
      " predict --config /etc/aflguard/client.toml < rows.csv\n  " + program.name +
      " --make-identity pi-7 -o /etc/aflguard\n\nExit codes: 0 done or stopped by a signal, 1 failure, "
      "2 usage.");
  CommandLine command;
  auto* config = app.add_option("--config", command.config, "configuration file (TOML)");
  app.add_flag("--test-config", command.test_config,
               "check the configuration and all that it names, then end")
      ->needs(config);
  auto* test_identity =
      app.add_flag("--test-identity", command.test_identity,
                   "check only that certificate, key, authority and gateway's key fit together, then end")
          ->needs(config);
  app.add_flag("--json", command.json, "with --test-identity: one line of JSON, aflguard.identity.v1")
      ->needs(test_identity);
  auto* identity = app.add_option("--make-identity", command.identity,
                                  "make a new key and a certificate request for this device name, then end")
                       ->excludes(config);
  auto* output = app.add_option("-o,--output", command.output, "folder for --make-identity")->needs(identity);
  identity->needs(output);
  if (program.add_options) program.add_options(app);
  add_predict(app, command);
  try {
    app.parse(argc, argv);
    if (command.config.empty() && command.identity.empty()) {
      throw CLI::RequiredError("--config FILE, or --make-identity NAME,");
    }
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  return run_command(program, command);
}

}  // namespace aflguard::edge
