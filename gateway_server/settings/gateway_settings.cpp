#include "gateway_server/settings/gateway_settings.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

#include "core/base/identifier.h"
#include "core/config/config_file.h"
#include "core/config/dataset_section.h"
#include "core/system/machine/process_memory.h"

namespace aflguard::gateway {
namespace {

constexpr double kLargest = 1e9;
constexpr std::int64_t kLargestInteger = std::numeric_limits<std::int64_t>::max();

using Seconds = GatewaySettings::Seconds;

void read_fleet(ConfigFile& file, GatewaySettings& settings) {
  auto fleet = file.table("fleet");
  settings.fleet = fleet.text("name");
  if (const Status named = check_identifier("fleet", settings.fleet); !named.ok()) {
    fleet.problem("name", named.error().message);
  }
  auto broker = file.table("broker");
  settings.broker.host = broker.text("host");
  settings.broker.port = static_cast<std::uint16_t>(broker.integer_or("port", 8883, 1, 65535));
  settings.broker.protocol = broker.choice_or("protocol", "auto", {"auto", "5", "3.1.1"});
  auto identity = file.table("identity");
  settings.identity = {identity.path("certificate"), identity.path("key"), identity.path("ca"),
                       identity.path_or("release", "release.pem")};
  auto devices = file.table("devices");
  settings.device_book = devices.path_or("book", "../devices.db");
  settings.paused_devices = devices.path_or("paused", "../paused");
}

EncodingSet read_encodings(ConfigTable& training) {
  EncodingSet taken = EncodingSet::all();
  taken.encodings = 0;
  taken.add(Encoding::kFloat32);
  for (const std::string& name : training.texts_or("encodings", {"float32", "fp16", "int8", "int4"})) {
    if (const auto encoding = parse_encoding(name)) {
      taken.add(*encoding);
    } else {
      training.problem("encodings",
                       "has \"" + name + "\", may have \"float32\", \"fp16\", \"int8\" and \"int4\"");
    }
  }
  return taken;
}

void read_learning(ConfigFile& file, GatewaySettings& settings) {
  auto model = file.table("model");
  settings.model.package = model.path("package");
  settings.model.initial = model.optional_path("initial");
  settings.model.runtime = model.optional_path("runtime");
  settings.model.seed = static_cast<std::uint64_t>(model.integer_or("seed", 1, 0, kLargestInteger));
  settings.model.threads = static_cast<int>(model.integer_or("threads", 1, 1, 256));
  auto training = file.table("training");
  settings.training.learning_rate = training.number("learning_rate", 1e-12, kLargest);
  settings.training.batch_size = static_cast<std::uint32_t>(training.integer("batch_size", 1, 1'000'000));
  settings.training.local_steps =
      static_cast<std::uint32_t>(training.integer_or("local_steps", 1, 1, 1'000'000));
  settings.training.taken = read_encodings(training);
  settings.training.updates_per_second = training.number_or("updates_per_second", 0, 0, 1e6);
}

void read_guard(ConfigFile& file, GatewaySettings& settings) {
  auto guard = file.table("guard");
  GatewaySettings::Guard& out = settings.guard;
  out.name = guard.text_or("name", out.name);
  out.lambda = guard.number_or("lambda", out.lambda, 1e-9, kLargest);
  out.reference_interval =
      static_cast<std::uint64_t>(guard.integer_or("reference_interval", 10, 1, kLargestInteger));
  out.reference_share = guard.number_or("reference_share", out.reference_share, 0.001, 1);
  out.max_delay = static_cast<std::uint64_t>(guard.integer_or("max_delay", 1000, 0, kLargestInteger));
  out.history = static_cast<std::uint64_t>(guard.integer_or("history", 32, 0, 100'000));
  out.voter_timeout = Seconds(guard.number_or("voter_timeout_seconds", 604'800, 0, kLargest));
  out.options = guard.numbers("options");
  if (auto trusted = file.optional_table("trusted")) settings.trusted = read_dataset_files(*trusted);
  if (auto evaluation = file.optional_table("evaluation")) {
    settings.evaluation = GatewaySettings::Evaluation{
        .data = read_dataset_files(*evaluation),
        .interval = Seconds(evaluation->number_or("interval_seconds", 10, 0.1, kLargest)),
        .samples = static_cast<std::size_t>(evaluation->integer_or("samples", 2000, 1, kLargestInteger))};
  }
}

void read_store(ConfigFile& file, GatewaySettings& settings) {
  auto store = file.table("store");
  settings.store.file = store.path_or("file", "state/gateway.db");
  settings.store.keep_verdicts =
      static_cast<std::uint64_t>(store.integer_or("keep_verdicts", 1'000'000, 1000, kLargestInteger));
  if (auto recording = file.optional_table("recording")) {
    settings.recording = GatewaySettings::Recording{
        .folder = recording->path_or("folder", "recording"),
        .max_bytes = static_cast<std::uint64_t>(recording->integer_or("max_megabytes", 4096, 1, 1 << 30))
                     << 20};
  }
}

/// What updates and answers may take together when the file does not say: a quarter of the machine's memory.
std::size_t default_memory() {
  constexpr std::size_t kLeast = 64u << 20;
  constexpr std::size_t kMost = 640u << 20;
  return std::clamp(machine_memory_bytes() / 4, kLeast, kMost);
}

void read_alerts(ConfigFile& file, GatewaySettings& settings) {
  auto table = file.optional_table("alerts");
  if (!table) return;
  GatewaySettings::Alerts alerts;
  alerts.command = table->texts_or("command", {});
  const std::string webhook = table->text_or("webhook", "");
  if (!webhook.empty()) alerts.webhook = webhook;
  alerts.per_hour = table->number_or("per_hour", alerts.per_hour, 1, 3600);
  alerts.lost = Seconds(table->number_or("lost_seconds", 300, 0, 30 * 86'400));
  alerts.certificate_days = table->number_or("certificate_days", alerts.certificate_days, 0, 3650);
  alerts.disk_free = table->number_or("disk_free", alerts.disk_free, 0, 1);
  settings.alerts = std::move(alerts);
}

void read_limits(ConfigFile& file, GatewaySettings& settings) {
  auto table = file.table("limits");
  GatewaySettings::Limits& limits = settings.limits;
  const auto read = [&table, &limits](const char* key, std::size_t& value, std::int64_t low) {
    if (table.has(key)) limits.given.insert(key);
    value = static_cast<std::size_t>(
        table.integer_or(key, static_cast<std::int64_t>(value), low, std::int64_t{1} << 40));
  };
  std::size_t memory = default_memory();
  read("memory_bytes", memory, 4 << 20);
  limits.inbox_bytes = limits.waiting_bytes = memory / 5 * 2;
  limits.outbox_bytes = memory / 5;
  read("update_bytes", limits.update_bytes, 1024);
  read("inbox_bytes", limits.inbox_bytes, 1 << 20);
  read("device_bytes", limits.device_bytes, 1024);
  read("waiting_updates", limits.waiting_updates, 0);
  read("waiting_bytes", limits.waiting_bytes, 1 << 20);
  read("device_updates", limits.device_updates, 1);
  read("outbox_bytes", limits.outbox_bytes, 1 << 20);
  limits.device_bytes_per_day =
      static_cast<std::uint64_t>(table.integer_or("device_bytes_per_day", 0, 0, std::int64_t{1} << 50));
  limits.silence = Seconds(table.number_or("silence_seconds", 120, 1, 86'400));
  limits.workers = static_cast<std::size_t>(table.integer_or("workers", 0, 0, 256));
  auto replies = file.table("replies");
  settings.replies.models_per_second = replies.number_or("models_per_second", 100, 0, kLargest);
  settings.replies.retained_model_interval =
      Seconds(replies.number_or("retained_model_interval_seconds", 1, 0.01, 86'400));
  settings.replies.history_bytes =
      static_cast<std::size_t>(replies.integer_or("history_bytes", 64 << 20, 0, std::int64_t{1} << 40));
  settings.replies.grid = replies.boolean_or("grid", settings.replies.grid);
  settings.telemetry_interval = Seconds(file.table("telemetry").number_or("interval_seconds", 2, 0.1, 3600));
  settings.keep_history = file.table("history").boolean_or("enabled", true);
  if (auto metrics = file.optional_table("metrics")) settings.metrics_listen = metrics->text("listen");
  if (auto home = file.optional_table("home_assistant")) {
    const std::string prefix = home->text_or("prefix", "homeassistant");
    if (!is_identifier(prefix)) {
      home->problem("prefix", "is \"" + prefix + "\", must be one level of a topic, like \"homeassistant\"");
    }
    if (home->boolean_or("discovery", false)) settings.home_assistant_prefix = prefix;
  }
  read_alerts(file, settings);
  settings.log_level = read_log_level(file.table("log"));
}

}  // namespace

Result<GatewaySettings> read_gateway_settings(const std::filesystem::path& path) {
  TRY(auto file, ConfigFile::read(path));
  return read_gateway_settings(file);
}

Result<GatewaySettings> read_gateway_settings(ConfigFile& file) {
  GatewaySettings settings;
  read_fleet(file, settings);
  read_learning(file, settings);
  read_guard(file, settings);
  read_store(file, settings);
  read_limits(file, settings);
  TRY_STATUS(file.finish());
  return settings;
}

const std::set<std::string>& live_gateway_keys() {
  static const std::set<std::string> kKeys = {"[training] learning_rate",
                                              "[guard]",
                                              "[evaluation]",
                                              "[limits] memory_bytes",
                                              "[limits] inbox_bytes",
                                              "[limits] device_bytes",
                                              "[limits] waiting_bytes",
                                              "[limits] device_updates",
                                              "[limits] outbox_bytes",
                                              "[limits] silence_seconds",
                                              "[replies] models_per_second",
                                              "[replies] retained_model_interval_seconds"};
  return kKeys;
}

void take_live_settings(const GatewaySettings& fresh, GatewaySettings& running) {
  running.training.learning_rate = fresh.training.learning_rate;
  running.guard = fresh.guard;
  running.evaluation = fresh.evaluation;
  const GatewaySettings::Limits former = std::exchange(running.limits, fresh.limits);
  running.limits.update_bytes = former.update_bytes;
  running.limits.waiting_updates = former.waiting_updates;
  running.limits.workers = former.workers;
  running.limits.device_bytes_per_day = former.device_bytes_per_day;
  running.replies.models_per_second = fresh.replies.models_per_second;
  running.replies.retained_model_interval = fresh.replies.retained_model_interval;
}

std::string guard_text(const GatewaySettings& settings) {
  std::ostringstream text;
  text.precision(17);
  text << settings.guard.name << " lambda=" << settings.guard.lambda << " history=" << settings.guard.history;
  for (const auto& [name, value] : settings.guard.options) text << ' ' << name << '=' << value;
  return text.str();
}

}  // namespace aflguard::gateway
