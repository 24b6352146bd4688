#include "tools/aflguard/bench_watch.h"

#include <set>

#include "core/base/rfc3339.h"
#include "core/transport/topics.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "tools/aflguard/bench_fleet.h"

namespace aflguard::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience(60);
constexpr std::chrono::seconds kSettling(3);

class NoLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

/// Says what all devices would say, in turn, on one connection.
class StatusCrowd final {
 public:
  static Result<std::unique_ptr<StatusCrowd>> start(const BenchFleet& fleet, std::size_t devices) {
    TRY(const FleetTopics topics, FleetTopics::create(fleet.name()));
    auto crowd = std::unique_ptr<StatusCrowd>(new StatusCrowd(topics, devices));
    TRY(crowd->bus_, MqttBus::create(fleet.device_options(1), crowd->log_));
    TRY_STATUS(crowd->bus_->subscribe(topics.all_device_summaries()));
    TRY_STATUS(crowd->bus_->start());
    const auto deadline = Clock::now() + kPatience;
    while (const auto event = crowd->bus_->next_event(deadline)) {
      if (std::holds_alternative<BusConnected>(*event)) return crowd;
    }
    return unavailable("the publisher of status messages did not connect");
  }
  ~StatusCrowd() {
    if (bus_) bus_->stop();
  }

  /// The next device's next status; time, state, counters, loss and message change each time.
  Status speak() {
    const std::string device = "device-" + std::to_string(next_ % devices_ + 1);
    const std::uint64_t turn = next_++ / devices_;
    const bool training = turn % 2 == 0;
    const nlohmann::ordered_json json = {
        {"schema", "aflguard-device-status-1"},
        {"state", training ? "training" : "ready"},
        {"device", device},
        {"time", to_rfc3339(std::chrono::system_clock::now())},
        {"version", 800 + turn},
        {"sequence", turn},
        {"verdict", {{"accepted", true}, {"reason", "accepted"}, {"delay", turn % 7}}},
        {"accepted", turn},
        {"rejected", 0},
        {"refused", 0},
        {"loss", 1.0 / static_cast<double>(turn + 1)},
        {"samples", 32},
        {"software", "0.1.0"},
        {"rss_mb", 48.2},
        {"temperature_c", 51.5},
        {"memory_free_mb", 310},
        {"certificate_until", "2028-01-31T12:00:00Z"},
        {"message", training ? "" : "waiting for samples"}};
    const std::string text = json.dump();
    const auto bytes = std::as_bytes(std::span(text));
    const Message message{topics_.device_status(device), Bytes(bytes.begin(), bytes.end()), true};
    const auto deadline = Clock::now() + kPatience;
    while (!bus_->publish(message).ok()) {
      if (Clock::now() > deadline) return unavailable("the broker takes no more status messages");
      hear(bus_->next_event(Clock::now() + std::chrono::milliseconds(5)));
    }
    listen({});
    return {};
  }
  /// Takes in what the gateway tells of devices, until `deadline`.
  void listen(Clock::time_point deadline) {
    while (const auto event = bus_->next_event(deadline)) hear(event);
  }
  [[nodiscard]] std::uint64_t said() const { return next_; }
  /// What the gateway told of devices, and of how many.
  [[nodiscard]] std::uint64_t heard() const { return heard_; }
  [[nodiscard]] std::size_t known() const { return known_.size(); }

 private:
  StatusCrowd(const FleetTopics& topics, std::size_t devices) : topics_(topics), devices_(devices) {}
  void hear(const std::optional<BusEvent>& event) {
    const auto* received = event ? std::get_if<BusReceived>(&*event) : nullptr;
    if (received == nullptr) return;
    ++heard_;
    known_.insert(received->message.topic);
  }

  NoLog log_;
  const FleetTopics topics_;
  const std::size_t devices_;
  std::unique_ptr<MqttBus> bus_;
  std::uint64_t next_ = 0;
  std::uint64_t heard_ = 0;
  std::set<std::string> known_;
};

/// One span's share of a core, in percent.
struct Share {
  double gateway = 0;
  double broker = 0;
};

class WatchLoad final {
 public:
  WatchLoad(const BenchWatchOptions& options, BenchFleet& fleet, StatusCrowd& crowd)
      : options_(options), fleet_(fleet), crowd_(crowd) {}

  /// Everybody speaks once, so that the gateway knows them all and has told of them.
  Status introduce() {
    for (std::size_t i = 0; i < options_.devices; ++i) TRY_STATUS(crowd_.speak());
    const auto deadline = Clock::now() + kPatience + std::chrono::milliseconds(100 * options_.devices);
    while (crowd_.known() < options_.devices) {
      if (options_.stop && options_.stop()) return unavailable("stopped");
      if (Clock::now() > deadline) {
        return unavailable("the gateway told of " + std::to_string(crowd_.known()) + " devices of " +
                           std::to_string(options_.devices));
      }
      crowd_.listen(Clock::now() + std::chrono::milliseconds(100));
    }
    return {};
  }

  Result<Share> measure(bool speaking) {
    TRY_STATUS(pass(kSettling, speaking));
    const double gateway = fleet_.gateway_cpu_seconds();
    const double broker = fleet_.broker_cpu_seconds();
    const auto begin = Clock::now();
    TRY_STATUS(pass(std::chrono::duration<double>(options_.seconds), speaking));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return Share{(fleet_.gateway_cpu_seconds() - gateway) / seconds * 100,
                 (fleet_.broker_cpu_seconds() - broker) / seconds * 100};
  }

 private:
  Status pass(std::chrono::duration<double> span, bool speaking) {
    const auto gap = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(options_.interval / static_cast<double>(options_.devices)));
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
    auto due = Clock::now();
    while (Clock::now() < end) {
      if (options_.stop && options_.stop()) return unavailable("stopped");
      if (speaking) TRY_STATUS(crowd_.speak());
      due += speaking ? gap : Clock::duration(std::chrono::milliseconds(100));
      crowd_.listen(std::min(due, end));
    }
    return {};
  }

  const BenchWatchOptions& options_;
  BenchFleet& fleet_;
  StatusCrowd& crowd_;
};

Repetitions summary(const std::vector<Share>& shares, double Share::*figure) {
  std::vector<double> values;
  for (const Share& share : shares) values.push_back(share.*figure);
  return summarise(std::move(values));
}

BenchResult result_of(const std::string& name, const std::vector<Share>& busy,
                      const std::vector<Share>& quiet, double Share::*figure,
                      const nlohmann::ordered_json& conditions) {
  BenchResult result;
  result.name = name;
  const Repetitions ours = summary(busy, figure);
  result.value = ours.median;
  result.unit = "% of a core";
  result.spread = ours.spread;
  result.baseline_name = "the same without status messages";
  result.baseline_value = summary(quiet, figure).median;
  result.conditions = conditions;
  return result;
}

}  // namespace

Result<std::vector<BenchResult>> bench_watch(const BenchWatchOptions& options, Progress& progress) {
  progress.show("watch: starting a fleet", 0, 1);
  TRY(const auto fleet, BenchFleet::create(1));
  TRY_STATUS(fleet->pretend_devices(options.devices));
  TRY_STATUS(fleet->start_gateway({}));
  TRY(const auto crowd, StatusCrowd::start(*fleet, options.devices));
  WatchLoad load(options, *fleet, *crowd);
  progress.show("watch: introducing " + std::to_string(options.devices) + " devices", 0, 1);
  TRY_STATUS(load.introduce());
  std::vector<Share> quiet;
  std::vector<Share> busy;
  const auto rounds = static_cast<std::size_t>(options.rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    progress.show("gateway_watch_cpu_percent", round, rounds);
    TRY(const Share without, load.measure(false));
    TRY(const Share with, load.measure(true));
    quiet.push_back(without);
    busy.push_back(with);
  }
  const nlohmann::ordered_json conditions = {
      {"devices", options.devices},
      {"status_interval_seconds", options.interval},
      {"status_messages", crowd->said()},
      {"messages_about_devices", crowd->heard()},
      {"changing", "time, state, version, counters, delay, loss and message, each time"},
      {"seconds_per_span", options.seconds},
      {"rounds", options.rounds},
      {"updates", "none: all of the gateway's CPU time is telemetry"},
      {"connections", "one publisher speaks for all devices; one viewer reads all about them"},
      {"broker", "Mosquitto over TLS 1.3 with client certificates"}};
  std::vector<BenchResult> results;
  results.push_back(result_of("gateway_watch_cpu_percent", busy, quiet, &Share::gateway, conditions));
  results.push_back(result_of("broker_watch_cpu_percent", busy, quiet, &Share::broker, conditions));
  TRY(const double peak, fleet->gateway_peak_mb());
  BenchResult memory;
  memory.name = "gateway_watch_rss_mb";
  memory.unit = "MB";
  memory.value = peak;
  memory.conditions = {{"measured", "peak resident memory of aflguard-gateway"},
                       {"devices", options.devices}};
  results.push_back(std::move(memory));
  progress.finish();
  return results;
}

}  // namespace aflguard::tools
