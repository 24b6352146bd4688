#include "bench/bench_watch.h"

#include "bench/bench_fleet.h"
#include "bench/bench_publishers.h"
#include "bench/bench_status_crowd.h"

namespace aflguard::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSettling(3);
/// A client's default, while nothing changes; where figures change, it publishes every 10 seconds.
constexpr double kCalmInterval = 30;

/// One span's share of a core, in percent.
struct Share {
  double gateway = 0;
  double counter = 0;
  double broker = 0;
};
using Shares = std::vector<Share>;

class WatchLoad final {
 public:
  WatchLoad(const BenchWatchOptions& options, BenchFleet& fleet, StatusCrowd& crowd, LineProcess& counter)
      : options_(options), fleet_(fleet), crowd_(crowd), counter_(counter) {}

  /// With so many seconds between two messages of one device; 0: none publishes.
  Result<Share> measure(double interval) {
    TRY_STATUS(crowd_.pass(kSettling, interval, options_.stop));
    const Share before = used();
    const auto begin = Clock::now();
    TRY(const std::uint64_t missing, missing_messages());
    TRY_STATUS(crowd_.pass(std::chrono::duration<double>(options_.seconds), interval, options_.stop));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const Share after = used();
    TRY(const std::uint64_t missing_now, missing_messages());
    // The baseline must have done what it is the baseline of; a few are on their way.
    if (missing_now > missing + 100)
      return unavailable("the counting subscriber did not receive every message");
    return Share{(after.gateway - before.gateway) / seconds * 100,
                 (after.counter - before.counter) / seconds * 100,
                 (after.broker - before.broker) / seconds * 100};
  }

 private:
  [[nodiscard]] Share used() const {
    return {fleet_.gateway_cpu_seconds(), cpu_seconds(counter_.pid()), fleet_.broker_cpu_seconds()};
  }
  Result<std::uint64_t> missing_messages() {
    TRY_STATUS(counter_.send("count"));
    TRY(auto words, expect_answer(counter_, "done"));
    std::uint64_t counted = 0;
    words >> counted;
    return crowd_.published() - std::min(counted, crowd_.published());
  }

  const BenchWatchOptions& options_;
  BenchFleet& fleet_;
  StatusCrowd& crowd_;
  LineProcess& counter_;
};

Repetitions summary(const Shares& shares, double Share::*figure) {
  std::vector<double> values;
  for (const Share& share : shares) values.push_back(share.*figure);
  return summarise(std::move(values));
}

BenchResult result_of(const std::string& name, const Shares& shares, double Share::*figure,
                      const nlohmann::ordered_json& conditions) {
  BenchResult result;
  result.name = name;
  const Repetitions ours = summary(shares, figure);
  result.value = ours.median;
  result.unit = "% of a core";
  result.spread = ours.spread;
  result.conditions = conditions;
  return result;
}

/// The gateway beside the counting subscriber, which received the same at the same time.
BenchResult gateway_result(const std::string& name, const Shares& shares, const Shares& quiet,
                           double interval, nlohmann::ordered_json conditions) {
  conditions["status_interval_seconds"] = interval;
  conditions["gateway_percent_while_nobody_speaks"] = summary(quiet, &Share::gateway).median;
  conditions["rounds_percent"] = nlohmann::ordered_json::array();
  for (const Share& share : shares) conditions["rounds_percent"].push_back(share.gateway);
  BenchResult result = result_of(name, shares, &Share::gateway, conditions);
  result.baseline_name = "nothing but Paho, counting the same messages at the same time";
  result.baseline_value = summary(shares, &Share::counter).median;
  result.conditions["percent_above_baseline"] = result.value - *result.baseline_value;
  return result;
}

}  // namespace

Result<std::vector<BenchResult>> bench_watch(const BenchWatchOptions& options, Progress& progress) {
  progress.show("watch: starting a fleet", 0, 1);
  TRY(const auto fleet, BenchFleet::create(1));
  TRY_STATUS(fleet->pretend_devices(options.devices));
  TRY_STATUS(fleet->start_gateway({}));
  TRY(const FleetTopics topics, FleetTopics::create(BenchFleet::name()));
  TRY(LineProcess counter, fleet->start_message_counter("doctor", {topics.all_device_statuses()}));
  TRY(const auto crowd, StatusCrowd::start(*fleet, options.devices));
  WatchLoad load(options, *fleet, *crowd, counter);
  progress.show("watch: introducing " + std::to_string(options.devices) + " devices", 0, 1);
  TRY_STATUS(crowd->introduce(options.stop));
  Shares quiet;
  Shares busy;
  Shares calm;
  const auto rounds = static_cast<std::size_t>(options.rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    progress.show("gateway_watch_cpu_percent", round, rounds);
    TRY(quiet.emplace_back(), load.measure(0));
    TRY(busy.emplace_back(), load.measure(options.interval));
    TRY(calm.emplace_back(), load.measure(kCalmInterval));
  }
  const nlohmann::ordered_json conditions = {
      {"devices", options.devices},
      {"status_messages", crowd->published()},
      {"messages_about_devices", crowd->received()},
      {"changing", "time, state, version, counters, delay, loss and message, each time"},
      {"seconds_per_span", options.seconds},
      {"rounds", options.rounds},
      {"updates", "none: all of the gateway's CPU time is telemetry"},
      {"connections", "one publisher stands for all devices and reads all about them"},
      {"broker", "Mosquitto over TLS 1.3 with client certificates"}};
  std::vector<BenchResult> results;
  results.push_back(gateway_result("gateway_watch_cpu_percent", busy, quiet, options.interval, conditions));
  results.push_back(gateway_result("gateway_watch_calm_cpu_percent", calm, quiet, kCalmInterval, conditions));
  BenchResult broker = result_of("broker_watch_cpu_percent", busy, &Share::broker, conditions);
  broker.baseline_name = "the same without status messages";
  broker.baseline_value = summary(quiet, &Share::broker).median;
  broker.conditions["status_interval_seconds"] = options.interval;
  results.push_back(std::move(broker));
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

}  // namespace aflguard::bench
