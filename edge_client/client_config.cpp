#include "edge_client/client_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "core/base/identifier.h"
#include "core/config/dataset_section.h"

namespace aflguard::edge {
namespace {

constexpr double kDay = 86'400;

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::string read_name(ConfigTable& table, const std::string& key) {
  std::string name = table.text(key);
  if (!name.empty() && !is_identifier(name)) {
    table.problem(key, "is \"" + name +
                           "\", must be letters, digits, '.', '_' and '-', beginning with a letter or digit, "
                           "64 at most");
  }
  return name;
}

void read_connection(ConfigFile& file, ClientConfig& config) {
  auto fleet = file.table("fleet");
  config.fleet = read_name(fleet, "name");
  config.device = read_name(fleet, "device");

  auto broker = file.table("broker");
  config.host = broker.text("host");
  config.port = static_cast<std::uint16_t>(broker.integer_or("port", 8883, 1, 65535));
  config.protocol = broker.choice_or("protocol", "auto", {"auto", "5", "3.1.1"});
  config.answer_wait = milliseconds_of(broker.number_or("answer_seconds", 30, 0.1, kDay));

  auto identity = file.table("identity");
  config.certificate = identity.path_or("certificate", "device.crt");
  config.key = identity.path_or("key", "device.key");
  config.ca = identity.path_or("ca", "ca.crt");
  config.gateway_keys = identity.path_or("gateway", "gateway.pem");
  config.release_keys = identity.path_or("release", "release.pem");
}

void read_model(ConfigFile& file, ClientConfig& config) {
  auto model = file.table("model");
  config.model_package = model.path_or("package", "model");
  config.runtime = model.optional_path("runtime");
  ExportSettings& settings = config.model_export;
  settings.file = model.optional_path("export").value_or("");
  settings.interval = milliseconds_of(model.number_or("export_interval_seconds", 10, 0, kDay));
  settings.best = model.choice_or("export_choice", "newest", {"newest", "best"}) == "best";
  settings.on_model = model.texts_or("on_model", {});
  if (!settings.file.empty()) return;
  for (const char* key : {"export_interval_seconds", "export_choice", "on_model"})
    model.report(key, "goes with export");
}

void read_samples(ConfigFile& file, ClientConfig& config) {
  auto data = file.table("data");
  config.data = read_dataset_files(data);
  config.follow = data.boolean_or("follow", false);
  config.hold_back = data.number_or("hold_back", 0, 0, 0.9);
  config.keep_samples = static_cast<std::size_t>(data.integer_or("keep_samples", 100'000, 1, 1 << 30));
  if (!config.follow) {
    data.report("keep_samples", "goes with follow = true");
    return;
  }
  if (config.data.format != DatasetFormat::kCsv) data.problem("follow", "goes with format = \"csv\"");
  for (const char* key : {"first", "count"}) data.report(key, "does not go with follow = true");
}

void read_topic(ConfigFile& file, ClientConfig& config) {
  auto table = file.table("topic");
  TopicSource source;
  source.rows.topic = table.text_or("filter", "");
  if (source.rows.topic.empty()) {
    for (const char* key :
         {"payload", "fields", "host", "port", "ca", "certificate", "key", "max_megabytes"}) {
      table.report(key, "goes with filter");
    }
    return;
  }
  source.rows.json = table.choice_or("payload", "csv", {"csv", "json"}) == "json";
  source.rows.fields = table.names("fields");
  source.rows.max_bytes = static_cast<std::uint64_t>(table.integer_or("max_megabytes", 64, 1, 1 << 20)) << 20;
  source.host = table.text_or("host", "localhost");
  source.port = static_cast<std::uint16_t>(table.integer_or("port", 1883, 1, 65535));
  source.ca = table.optional_path("ca");
  if (source.ca) {
    source.certificate = table.path("certificate");
    source.key = table.path("key");
  } else {
    for (const char* key : {"certificate", "key"}) table.report(key, "goes with ca");
  }
  if (source.rows.json && source.rows.fields.empty()) {
    table.problem("payload", "is \"json\": fields = [...] must name the columns");
  }
  if (!config.follow) {
    table.problem("filter", "goes with follow = true in [data], to whose file the rows are appended");
  }
  config.topic = std::move(source);
}

void read_training(ConfigFile& file, ClientConfig& config) {
  auto training = file.table("training");
  config.schedule.interval =
      std::chrono::duration<double>(training.number_or("interval_seconds", 0, 0, 30 * kDay));
  config.schedule.cpu_limit = training.number_or("cpu_limit", 1, 0.01, 1024);
  for (const std::string& text : training.texts_or("quiet_hours", {})) {
    if (auto hours = parse_quiet_hours(text); hours.ok()) {
      config.schedule.quiet_hours.push_back(*hours);
    } else {
      training.problem("quiet_hours", hours.error().message);
    }
  }
  if (const auto seed = training.optional_integer("seed", 0, std::numeric_limits<std::int64_t>::max())) {
    config.seed = static_cast<std::uint64_t>(*seed);
  }
  config.encoding =
      parse_encoding(training.choice_or("encoding", "auto", {"auto", "float32", "fp16", "int8", "int4"}));
}

}  // namespace

int default_threads(double cpu_limit, unsigned cores) {
  const double most = std::min<double>(std::max(1U, cores), 256);
  return static_cast<int>(std::clamp(std::floor(cpu_limit), 1.0, most));
}

Result<ConfigFile> read_client_file(const std::filesystem::path& path) {
  TRY(auto file, ConfigFile::read(path));
  auto local = ConfigFile::read(std::filesystem::path(path).replace_extension(".local.toml"));
  if (!local.ok() && local.error().kind == ErrorKind::kNotFound) return file;
  if (!local.ok()) return local.error();
  file.lay_over(*local);
  return file;
}

ClientConfig read_client_config(ConfigFile& file, const std::filesystem::path& state) {
  ClientConfig config;
  read_connection(file, config);
  read_model(file, config);
  read_samples(file, config);
  if (config.model_export.best && config.hold_back <= 0) {
    file.table("model").problem("export_choice",
                                "is \"best\": hold_back in [data] must be above 0, to measure on");
  }
  read_topic(file, config);
  read_training(file, config);
  const int threads = default_threads(config.schedule.cpu_limit, std::thread::hardware_concurrency());
  config.threads = static_cast<int>(file.table("model").integer_or("threads", threads, 1, 256));
  config.state_folder = file.table("state").path_or("folder", state);
  config.status_interval = milliseconds_of(file.table("status").number_or("interval_seconds", 30, 1, 60));
  config.log_level = read_log_level(file.table("log"));
  return config;
}

}  // namespace aflguard::edge
