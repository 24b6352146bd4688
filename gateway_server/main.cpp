#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <malloc.h>

#include "core/aggregation/guards/all_guards.h"
#include "core/base/version.h"
#include "core/identity/pem_limit.h"
#include "core/identity_openssl/openssl_signer.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "core/identity_openssl/x509_text.h"
#include "core/learning/evaluation.h"
#include "core/learning/normalisation_statistics.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "core/release/package_archive.h"
#include "core/system/atomic_file.h"
#include "core/system/secret_file.h"
#include "core/system/stop_signal.h"
#include "core/telemetry/gateway_status.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "gateway_server/gateway.h"
#include "gateway_server/gateway_reload.h"
#include "gateway_server/settings/gateway_inputs.h"
#include "gateway_server/settings/trusted_set_check.h"
#include "gateway_server/store/sqlite_history.h"
#include "gateway_server/store/sqlite_store.h"
#include "gateway_server/store/sqlite_stored_model.h"

namespace {

using namespace aflguard;
using namespace aflguard::gateway;

/// Longer than the receiving thread ever needs to make room; far shorter than a keep-alive.
constexpr std::chrono::milliseconds kWaitForRoom(2000);

MqttOptions bus_options(const GatewaySettings& settings, const FleetTopics& topics) {
  MqttOptions options;
  options.host = settings.broker.host;
  options.port = settings.broker.port;
  options.client_id = "gateway";
  options.tls = TlsFiles{settings.identity.ca, settings.identity.certificate, settings.identity.key};
  options.protocol = settings.broker.protocol == "5"       ? MqttProtocol::kMqtt5
                     : settings.broker.protocol == "3.1.1" ? MqttProtocol::kMqtt311
                                                           : MqttProtocol::kAutomatic;
  options.max_queued_messages = 65'536;
  options.max_queued_bytes = settings.limits.inbox_bytes;
  // One update, and most of another round of it; small messages of one device are many only in a flood.
  options.max_queued_messages_per_topic = 1024;
  options.max_queued_bytes_per_topic =
      std::max(settings.limits.inbox_bytes / 16,
               std::min(settings.limits.update_bytes, settings.limits.inbox_bytes / 2));
  options.wait_for_room = kWaitForRoom;
  const std::string lost = to_json(GatewayStatus{GatewayState::kLost, settings.fleet, settings.guard.name,
                                                 kVersion, "the gateway is gone without saying goodbye"});
  const auto bytes = std::as_bytes(std::span(lost));
  options.last_will =
      LastWill{{.topic = topics.gateway_status(), .payload = {bytes.begin(), bytes.end()}, .retained = true}};
  return options;
}

/// From the store, or from the beginning. A changed guard keeps the model and starts with an empty memory.
Status restore(Aggregator& aggregator, const StoredState& stored, const GatewaySettings& settings,
               LogSink& log) {
  if (stored.aggregator.empty()) {
    if (!stored.beginning) return {};
    const ModelBeginning& beginning = *stored.beginning;
    const auto own = aggregator.model().parameters();
    SavedModel begun{beginning.iteration, beginning.version, {own.begin(), own.end()}};
    if (!beginning.aggregator.empty()) {
      TRY(const SavedModel left, Aggregator::read_model(beginning.aggregator, begun.parameters.size()));
      begun.parameters = left.parameters;
    }
    aggregator.start_from(begun);
    return {};
  }
  if (stored.guard == guard_text(settings)) {
    return aggregator.restore(stored.aggregator, stored.reference);
  }
  log.warning("the guard was '" + stored.guard + "' and is '" + guard_text(settings) +
              "' now: the model stays, what the guard remembered does not");
  TRY(const SavedModel saved, Aggregator::read_model(stored.aggregator, aggregator.model().dimension()));
  aggregator.start_from(saved);
  return {};
}

Result<std::unique_ptr<RecordingWriter>> start_recording(const GatewaySettings& settings,
                                                         const ModelDescription& model,
                                                         const GuardSettings& guard_settings,
                                                         const AggregatorOptions& options,
                                                         const Aggregator& aggregator) {
  if (!settings.recording) return std::unique_ptr<RecordingWriter>();
  RecordingHeader header;
  header.fleet = settings.fleet;
  header.model_hash = model.hash;
  header.guard = settings.guard.name;
  header.guard_settings = guard_settings;
  header.aggregator = options;
  header.state = aggregator.save();
  return RecordingWriter::create(settings.recording->folder, header, settings.recording->max_bytes);
}

/// The gateway's own share of learning: reference updates and evaluations, with one trainer for each.
struct Learning {
  std::shared_ptr<Trainer> reference_trainer;
  std::unique_ptr<TrustedSetReference> reference;
  EvaluationThread::Measure measure;
};

/// Samples on which statistics of normalisations are measured: the package's, so that boards and exports
/// predict the same, else the trusted set. Empty where the model needs none, or there are none.
std::vector<float> statistics_samples(const GatewayInputs& inputs) {
  const ModelPackage& package = inputs.package;
  if (package.description.statistics == 0 || !package.calibration.empty()) return package.calibration;
  return inputs.trusted ? calibration_features(*inputs.trusted, kMaxCalibrationSamples)
                        : std::vector<float>();
}

Result<std::shared_ptr<Trainer>> make_trainer(const GatewaySettings& settings, const ModelPackage& package) {
  TRY(auto runtime, OnnxRuntime::load(settings.model.runtime.value_or("")));
  OnnxTrainerOptions options;
  options.threads = settings.model.threads;
  TRY(auto trainer, make_onnx_trainer(runtime, package, options));
  return std::shared_ptr<Trainer>(std::move(trainer));
}

/// Measures models on `data`, with its own trainer.
Result<EvaluationThread::Measure> make_measure(const GatewaySettings& settings, const GatewayInputs& inputs,
                                               Dataset data) {
  TRY(auto trainer, make_trainer(settings, inputs.package));
  return EvaluationThread::Measure(
      [trainer = std::move(trainer), data = std::make_shared<const Dataset>(std::move(data)),
       samples = settings.evaluation->samples,
       measured_on = statistics_samples(inputs)](std::span<const float> parameters) -> Result<double> {
        std::vector<float> statistics;
        if (!measured_on.empty()) {
          TRY(statistics, measure_statistics(*trainer, parameters, measured_on));
        }
        return data->regression() ? mean_squared_error(*trainer, parameters, *data, samples, statistics)
                                  : test_error(*trainer, parameters, *data, samples, statistics);
      });
}

/// What the settings say of the evaluation now; empty: there is none.
Result<EvaluationThread::Measure> measure_again(const GatewaySettings& settings,
                                                const GatewayInputs& inputs) {
  if (!settings.evaluation) return EvaluationThread::Measure();
  TRY(Dataset data, load_dataset(settings.evaluation->data, inputs.package.description));
  return make_measure(settings, inputs, std::move(data));
}

Result<Learning> make_learning(const GatewaySettings& settings, GatewayInputs& inputs,
                               const GuardNeeds& needs) {
  Learning learning;
  const bool evaluate = inputs.evaluation.has_value();
  if (needs.reference) {
    TRY(learning.reference_trainer, make_trainer(settings, inputs.package));
    // What a client sends sums over all its steps; a class update of the same size is compared with it.
    const std::size_t batch = settings.training.batch_size * std::size_t{settings.training.local_steps};
    learning.reference = std::make_unique<TrustedSetReference>(*learning.reference_trainer, *inputs.trusted,
                                                               1, needs.reference_per_class ? batch : 0);
  }
  if (evaluate) {
    TRY(learning.measure, make_measure(settings, inputs, std::move(*inputs.evaluation)));
  }
  return learning;
}

/// Null without a section [alerts].
Result<std::unique_ptr<FleetAlerts>> make_alerts(const GatewaySettings& settings, const Clock& clock,
                                                 LogSink& log) {
  if (!settings.alerts) return std::unique_ptr<FleetAlerts>();
  const GatewaySettings::Alerts& wanted = *settings.alerts;
  AlertSettings alerts;
  alerts.ways.command = wanted.command;
  if (wanted.webhook) {
    auto url = parse_http_url(*wanted.webhook);
    if (!url.ok()) return at("[alerts] webhook", url.error());
    alerts.ways.webhook = std::move(*url);
  }
  if (alerts.ways.command.empty() && !alerts.ways.webhook) {
    return invalid_input("[alerts] has neither command nor webhook: give it one, or leave the section out");
  }
  alerts.per_hour = wanted.per_hour;
  alerts.lost = wanted.lost;
  alerts.certificate_days = wanted.certificate_days;
  alerts.disk_free = wanted.disk_free;
  return std::make_unique<FleetAlerts>(std::move(alerts), settings.fleet, clock, log);
}

/// For --test-config: a rate that diverges on the trusted samples alone would do so on the fleet's.
Status check_learning_rate(const GatewaySettings& settings, const GatewayInputs& inputs,
                           const Learning& learning) {
  const double samples = static_cast<double>(settings.training.batch_size) * settings.training.local_steps;
  TRY(const std::string problem,
      learning_rate_problem(*learning.reference_trainer, *inputs.trusted, inputs.initial,
                            settings.training.learning_rate, samples));
  return problem.empty() ? Status() : invalid_input(problem);
}

Status first_reference(UpdateJudge& judge, ReferenceSource* source) {
  const Aggregator& aggregator = judge.aggregator();
  if (source == nullptr || aggregator.installed_reference() != nullptr) return {};
  ReferenceUpdate reference;
  TRY_STATUS(source->compute(aggregator.model().parameters(), aggregator.model().version(), reference));
  return judge.install_reference(std::move(reference), aggregator.iteration());
}

/// Updates and models come and go, hundreds of kilobytes each. Left alone, the allocator gives them back to
/// the kernel and takes them again page by page, which costs more than judging them. What it keeps instead is
/// at most what the gateway's limits let it use at once.
void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

constexpr int kAnotherRuns = 3;

int report(const Error& error) {
  std::fprintf(stderr, "aflguard-gateway: %s\n", error.message.c_str());
  return 1;
}

/// The release keys of the fleet; none where it has no such file.
Result<KeyTable> read_release_keys(const std::filesystem::path& file, LogSink& log) {
  KeyTable keys;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    log.info(file.string() +
             " is not there: no model is taken from the broker (aflguard fleet refresh makes it)");
    return keys;
  }
  TRY(const std::string pem, read_text_file(file, kMaxPemBytes));
  const auto key = public_key_from_pem(pem);
  if (!key.ok()) return at(file.string(), key.error());
  TRY_STATUS(keys.add("release", *key));
  return keys;
}

/// The package of the store's model: the one that was rolled out, or the configuration's.
GatewaySettings with_package(GatewaySettings settings, bool& rolled_out) {
  rolled_out = false;
  const auto stored = model_of_store(settings.store.file);
  if (!stored) return settings;
  const auto folder = settings.models_folder() / stored->hash.substr(0, 16);
  const auto package = read_model_package(folder);
  if (!package.ok() || package->description.hash != stored->hash) return settings;
  rolled_out = true;
  settings.model.package = folder;
  settings.model.initial.reset();
  return settings;
}

Result<GatewayInputs> read_inputs(const GatewaySettings& settings, bool rolled_out) {
  TRY(GatewayInputs inputs, read_gateway_inputs(settings));
  if (rolled_out) {
    TRY(inputs.initial, read_start(settings.model.package, inputs.package.description));
  }
  return inputs;
}

/// Whether this gateway could train the package: what a start reads and computes.
Status try_package(GatewaySettings settings, const std::filesystem::path& package,
                   const std::uint64_t clients) {
  settings.model.package = package;
  settings.model.initial.reset();
  TRY(GatewayInputs inputs, read_inputs(settings, /*rolled_out=*/true));
  const ModelDescription& model = inputs.package.description;
  TRY_STATUS(fit_limits(settings.limits, model.dimension()));
  TRY(const auto guard,
      make_guard(settings, all_guards(), guard_settings(settings, model.dimension(), clients)));
  TRY(const Learning learning, make_learning(settings, inputs, guard->needs()));
  if (learning.reference) {
    ReferenceUpdate reference;
    TRY_STATUS(learning.reference->compute(inputs.initial, 0, reference));
    if (!std::isfinite(reference.norm)) {
      return invalid_input("the reference update at its first parameters is not finite");
    }
  }
  if (!learning.measure) return {};
  TRY(const double error, learning.measure(inputs.initial));
  if (std::isfinite(error)) return {};
  return invalid_input("the test error of its first parameters is not finite");
}

/// Runs `gateway` until a signal ends it; SIGHUP reads the settings again.
Status run_until_signal(Gateway& gateway, GatewayReload& reload, bool& told_to_stop) {
  TRY(const auto stop, StopSignal::install([&gateway] { gateway.stop(); },
                                           [&] {
                                             if (auto change = reload.read()) {
                                               gateway.change(std::move(*change));
                                             }
                                           }));
  const Status ended = gateway.run();
  told_to_stop = stop->requested();
  return ended;
}

/// How a gateway ended.
struct Ended {
  int exit_code = 0;
  bool again = false;  ///< another model was chosen, and the store has it
};

/// Until it is stopped, or another model was chosen. `running` and `configured` follow what SIGHUP changes.
Result<Ended> run_once(const std::filesystem::path& file, RunningConfig& running, GatewaySettings& configured,
                       bool only_test) {
  bool rolled_out = false;
  GatewaySettings settings = with_package(configured, rolled_out);
  const std::span<const GuardKind> kinds = all_guards();
  spell_out_guard(kinds, settings);
  StderrLog log(settings.log_level);
  const SystemClock clock;
  TRY(GatewayInputs inputs, read_inputs(settings, rolled_out));
  const ModelDescription& model = inputs.package.description;
  TRY_STATUS(fit_limits(settings.limits, model.dimension()));
  TRY(const FleetTopics topics, FleetTopics::create(settings.fleet));
  TRY(auto registry, LiveRegistry::open(settings.device_book, clock, log));
  TRY(auto paused, PausedDevices::open(settings.paused_devices, log));
  TRY(const std::string key, read_secret_file(settings.identity.key));
  TRY(OpensslSigner signer, OpensslSigner::from_pem(key));
  TRY(const ModelMessage terms, model_terms(settings, model));
  const GuardSettings guard_options = guard_settings(settings, model.dimension(), registry->enrolled());
  TRY(auto guard, make_guard(settings, kinds, guard_options));
  const GuardNeeds needs = guard->needs();
  TRY(auto bus, MqttBus::create(bus_options(settings, topics), log));
  TRY(Learning learning, make_learning(settings, inputs, needs));
  TRY(const KeyTable release_keys, read_release_keys(settings.identity.release, log));
  TRY(auto alerts, make_alerts(settings, clock, log));
  const std::string trusted_problem =
      needs.reference ? trusted_set_problem(*inputs.trusted, model) : std::string();
  if (!trusted_problem.empty()) log.warning(trusted_problem);
  if (only_test) {
    if (needs.reference) TRY_STATUS(check_learning_rate(settings, inputs, learning));
    return Ended{};
  }

  TRY(auto store, SqliteStore::open({.file = settings.store.file,
                                     .fleet = settings.fleet,
                                     .model_hash = model.hash,
                                     .model_name = model.name,
                                     .guard = guard_text(settings),
                                     .keep_verdicts = settings.store.keep_verdicts,
                                     .log = &log}));
  TRY(StoredState stored, store->load());
  const AggregatorOptions options = aggregator_options(settings, needs);
  Aggregator aggregator(options, std::move(guard), nullptr, inputs.initial);
  TRY_STATUS(restore(aggregator, stored, settings, log));
  TRY(auto recording, start_recording(settings, model, guard_options, options, aggregator));
  UpdateJudge judge(settings.fleet, aggregator, *store, std::move(stored.devices), std::move(recording),
                    clock, log);
  const VoterRules voters = {
      .silence = std::chrono::duration_cast<std::chrono::milliseconds>(settings.guard.voter_timeout),
      .is_enrolled = [&registry](std::string_view device) { return registry->is_enrolled(device); },
      .enrolled_names = [&registry] { return registry->enrolled_names(); }};
  judge.count_voters(voters);
  TRY_STATUS(first_reference(judge, learning.reference.get()));
  std::unique_ptr<HistoryStore> history;
  if (settings.keep_history) {
    TRY(history, SqliteHistory::open(settings.store.file));
  }
  const OpensslVerifier verifier;
  const StoredModel in_force =
      model_of_store(settings.store.file).value_or(StoredModel{1, model.name, model.hash});
  Gateway gateway({.settings = settings,
                   .topics = topics,
                   .terms = terms,
                   .dimension = model.dimension(),
                   .software = kVersion,
                   .bus = *bus,
                   .registry = *registry,
                   .paused = *paused,
                   .verifier = verifier,
                   .signer = signer,
                   .judge = judge,
                   .reference = learning.reference.get(),
                   .measure = learning.measure,
                   .history = std::move(history),
                   .release = release_keys,
                   .model = {in_force.number, in_force.name.empty() ? model.name : in_force.name, model.hash},
                   .try_model =
                       [&](const std::filesystem::path& package) {
                         return try_package(settings, package, registry->enrolled());
                       },
                   .trusted_set_problem = trusted_problem,
                   .alerts = std::move(alerts),
                   .clock = clock,
                   .log = log});
  GatewayReload reload(
      {.file = file,
       .running = running,
       .settings = settings,
       .kinds = kinds,
       .model = model,
       .has_trusted = learning.reference != nullptr,
       .has_classes = needs.reference_per_class,
       .measure = learning.measure,
       .voters = voters,
       .enrolled = [&registry] { return registry->enrolled(); },
       .make_measure = [&inputs](const GatewaySettings& fresh) { return measure_again(fresh, inputs); },
       .record =
           [&model](const GatewaySettings& fresh, const GuardSettings& guard_settings,
                    const AggregatorOptions& changed, const Aggregator& current) {
             return start_recording(fresh, model, guard_settings, changed, current);
           },
       .log = log});
  bool told_to_stop = false;
  const Status ended = run_until_signal(gateway, reload, told_to_stop);
  take_live_settings(reload.settings(), configured);
  if (!ended.ok()) {
    const int failure = report(ended.error());
    return Ended{gateway.came_second() ? kAnotherRuns : failure};
  }
  if (!gateway.chosen()) return Ended{};
  const ChosenModel& next = *gateway.chosen();
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(clock.wall().time_since_epoch());
  TRY_STATUS(store->change_model({next.number, next.name, next.hash}, now.count()));
  return Ended{.again = !told_to_stop};
}

/// The exit code of a gateway that ran.
Result<int> run(const ConfigFile& file, GatewaySettings settings, bool only_test) {
  RunningConfig running(file, live_gateway_keys());
  while (true) {
    TRY(const Ended ended, run_once(file.path(), running, settings, only_test));
    if (!ended.again) return ended.exit_code;
  }
}

}  // namespace

/// Exit codes: 0 stopped by a signal or configuration in order, 1 failure, 2 the command line is wrong, 3
/// another gateway with this identity runs: a restart would disturb it.
int main(int argc, char** argv) {
  CLI::App app("The gateway of an AFLGuard fleet: judges every device's update and keeps the global model.",
               "aflguard-gateway");
  app.set_version_flag("--version", kVersion);
  app.footer(
      "Example:\n  aflguard-gateway --config orchard/gateway/gateway.toml --test-config\n"
      "'aflguard fleet init' writes a configuration in which every key is explained.");
  std::string config;
  bool only_test = false;
  app.add_option("--config", config, "The configuration file (TOML)")->required();
  app.add_flag("--test-config", only_test, "Check the configuration and every file it names, then end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  keep_freed_memory();
  try {
    auto file = ConfigFile::read(config);
    if (!file) return report(file.error());
    const auto settings = read_gateway_settings(*file);
    if (!settings) return report(settings.error());
    const auto done = run(*file, *settings, only_test);
    if (!done.ok()) return report(done.error());
    if (only_test) std::printf("%s: the configuration is in order\n", config.c_str());
    return *done;
  } catch (const std::exception& problem) {
    return report(internal_error(std::string("unexpected: ") + problem.what()));
  }
}
