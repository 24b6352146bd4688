#include "bench/bench_gateway.h"

#include <algorithm>

#include "bench/bench_publishers.h"
#include "core/envelope/piece_sender.h"

namespace aflguard::bench {
namespace {

constexpr double kEveryVerdict = 1e6;  // models per second: no verdict is without one
constexpr int kSlowLinkRounds = 7;

/// What one round took. CPU times are of a whole process, per update.
struct Round {
  double rate = 0;
  double receiver_cpu_ms = 0;  ///< the gateway, or the counting subscriber
  double broker_cpu_ms = 0;
  double publishers_cpu_ms = 0;
  double peak_mb = 0;  ///< of the gateway

  [[nodiscard]] double cpu_ms() const { return receiver_cpu_ms + broker_cpu_ms + publishers_cpu_ms; }
};

/// The rounds of one kind.
struct Series {
  std::vector<Round> rounds;

  [[nodiscard]] Repetitions of(double Round::*figure) const {
    std::vector<double> values;
    for (const Round& round : rounds) values.push_back(round.*figure);
    return summarise(std::move(values));
  }
  [[nodiscard]] double largest(double Round::*figure) const {
    double most = 0;
    for (const Round& round : rounds) most = std::max(most, round.*figure);
    return most;
  }
  void put_cpu(const std::string& who, nlohmann::ordered_json& conditions) const {
    conditions["cpu_ms_per_update"][who] = {{"receiver", of(&Round::receiver_cpu_ms).median},
                                            {"broker", of(&Round::broker_cpu_ms).median},
                                            {"publishers", of(&Round::publishers_cpu_ms).median}};
  }
};

/// A fleet and its publishers, which send the same updates to every receiver.
class GatewayLoad final {
 public:
  static Result<GatewayLoad> create(const BenchGatewayOptions& options) {
    TRY(auto fleet, BenchFleet::create(options.publishers));
    TRY(Publishers publishers, Publishers::start(*fleet, options.publishers));
    return GatewayLoad(options, std::move(fleet), std::move(publishers));
  }

  /// Publishers go on when the gateway's verdict has come.
  Result<Round> gateway_round(double models_per_second) {
    TRY_STATUS(fleet_->start_gateway({models_per_second, options_.reference_interval}));
    TRY([[maybe_unused]] const std::size_t bytes, publishers_.prepare(options_.updates));
    const Cpu before = cpu(fleet_->gateway_cpu_seconds());
    TRY_STATUS(publishers_.go("verdicts"));
    TRY(const auto answers, publishers_.answers());
    TRY_STATUS(check_answers(answers, models_per_second > 0));
    double end = 0;
    for (const auto& answer : answers) end = std::max(end, answer.done_at.back());
    Round round = finish(before, cpu(fleet_->gateway_cpu_seconds()), answers, end);
    TRY(round.peak_mb, fleet_->gateway_peak_mb());
    fleet_->stop_gateway();
    return round;
  }

  /// Publishers go on when the broker has acknowledged everything; the subscriber only counts.
  Result<Round> counter_round() {
    TRY(LineProcess counter, fleet_->start_counter());
    TRY(bytes_, publishers_.prepare(options_.updates));
    TRY_STATUS(counter.send("count " + std::to_string(updates()) + " " + std::to_string(bytes_)));
    const Cpu before = cpu(cpu_seconds(counter.pid()));
    TRY_STATUS(publishers_.go("acks"));
    TRY(const auto answers, publishers_.answers());
    TRY(auto words, expect_answer(counter, "done"));
    const std::vector<double> received = read_seconds(words);
    return finish(before, cpu(cpu_seconds(counter.pid())), answers, received.back());
  }

  [[nodiscard]] std::size_t updates() const { return publishers_.size() * options_.updates; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] BenchFleet& fleet() { return *fleet_; }

 private:
  struct Cpu {
    double receiver = 0;
    double broker = 0;
    double publishers = 0;
  };

  GatewayLoad(const BenchGatewayOptions& options, std::unique_ptr<BenchFleet> fleet, Publishers publishers)
      : options_(options), fleet_(std::move(fleet)), publishers_(std::move(publishers)) {}

  [[nodiscard]] Cpu cpu(double receiver) const {
    return {receiver, fleet_->broker_cpu_seconds(), publishers_.cpu_seconds()};
  }

  [[nodiscard]] Round finish(const Cpu& before, const Cpu& after, const std::vector<PublisherAnswer>& answers,
                             double end) const {
    double begin = end;
    for (const PublisherAnswer& answer : answers) begin = std::min(begin, answer.begin);
    const auto count = static_cast<double>(updates());
    Round round;
    round.rate = count / (end - begin);
    round.receiver_cpu_ms = (after.receiver - before.receiver) * 1e3 / count;
    round.broker_cpu_ms = (after.broker - before.broker) * 1e3 / count;
    round.publishers_cpu_ms = (after.publishers - before.publishers) * 1e3 / count;
    return round;
  }

  /// A benchmark of rejections would be another one.
  Status check_answers(const std::vector<PublisherAnswer>& answers, bool with_models) {
    std::size_t accepted = 0;
    std::size_t models = 0;
    for (const PublisherAnswer& answer : answers) {
      accepted += answer.accepted;
      models += answer.models;
    }
    accepted_before_ += updates();
    if (with_models) models_before_ += updates();
    if (accepted == accepted_before_ && models == models_before_) return {};
    return internal_error("the gateway accepted " + std::to_string(accepted) + " of " +
                          std::to_string(accepted_before_) + " updates and sent " + std::to_string(models) +
                          " of " + std::to_string(models_before_) + " models");
  }

  BenchGatewayOptions options_;
  std::unique_ptr<BenchFleet> fleet_;
  Publishers publishers_;
  std::size_t bytes_ = 0;
  std::size_t accepted_before_ = 0;
  std::size_t models_before_ = 0;
};

BenchResult rate_result(const std::string& name, const Series& ours, const Series& counted,
                        nlohmann::ordered_json conditions) {
  const auto summary = ours.of(&Round::rate);
  BenchResult result;
  result.name = name;
  result.value = summary.median;
  result.unit = "1/s";
  result.spread = summary.spread;
  result.baseline_name = "counting subscriber";
  result.baseline_value = counted.of(&Round::rate).median;
  ours.put_cpu("gateway", conditions);
  counted.put_cpu("counting", conditions);
  std::vector<double> ratios;
  std::vector<double> cpu_ratios;
  for (std::size_t i = 0; i < ours.rounds.size(); ++i) {
    ratios.push_back(ours.rounds[i].rate / counted.rounds[i].rate);
    cpu_ratios.push_back(counted.rounds[i].cpu_ms() / ours.rounds[i].cpu_ms());
  }
  conditions["ratio_round_by_round"] = ratios;
  // What the ratio would be if all cores were ours alone: CPU time of all programs, per update.
  conditions["cpu_time_ratio"] = summarise(std::move(cpu_ratios)).median;
  result.conditions = std::move(conditions);
  return result;
}

BenchResult cpu_result(const Series& plain, double floor, nlohmann::ordered_json conditions) {
  const Repetitions cost = plain.of(&Round::receiver_cpu_ms);
  BenchResult result;
  result.name = "gateway_cpu_ms_per_update";
  result.value = cost.median;
  result.unit = "ms";
  result.spread = cost.spread;
  result.baseline_name = "AES-256-GCM, SHA-256 and one write of as many bytes";
  result.baseline_value = floor;
  result.conditions = std::move(conditions);
  result.conditions["clock"] = "CPU time of all threads of the process";
  return result;
}

Status bench_rates(const BenchGatewayOptions& options, GatewayLoad& load, Progress& progress,
                   std::vector<BenchResult>& results) {
  Series plain, with_models, counted;
  const auto rounds = static_cast<std::size_t>(options.rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    progress.show("gateway_updates_per_s", round, rounds);
    if (options.stop && options.stop()) return unavailable("stopped");
    TRY(const Round ours, load.gateway_round(0));
    TRY(const Round baseline, load.counter_round());
    TRY(const Round models, load.gateway_round(kEveryVerdict));
    plain.rounds.push_back(ours);
    counted.rounds.push_back(baseline);
    with_models.rounds.push_back(models);
  }
  TRY(const double sync, load.fleet().sync_ms());
  const PieceSenderOptions pieces;
  const nlohmann::ordered_json conditions = {{"publishers", options.publishers},
                                             {"updates_per_round", load.updates()},
                                             {"rounds", options.rounds},
                                             {"envelope_bytes", load.bytes()},
                                             {"piece_bytes", pieces.body_bytes},
                                             {"pieces_on_their_way", pieces.window},
                                             {"guard", "aflguard"},
                                             {"reference_interval", options.reference_interval},
                                             {"trusted_samples", BenchFleet::kTrustedSamples},
                                             {"broker", "Mosquitto over TLS 1.3 with client certificates"},
                                             {"store", "SQLite, full sync"},
                                             {"small_synced_write_ms", sync}};
  auto without = conditions;
  without["models_in_verdicts"] = "none";
  auto with = conditions;
  with["models_in_verdicts"] = "all";
  results.push_back(rate_result("gateway_updates_per_s", plain, counted, without));
  results.push_back(rate_result("gateway_updates_per_s_with_models", with_models, counted, with));
  TRY(const double floor, load.fleet().floor_ms(load.bytes()));
  results.push_back(cpu_result(plain, floor, without));
  BenchResult memory;
  memory.name = "gateway_rss_mb";
  memory.unit = "MB";
  memory.value = std::max(plain.largest(&Round::peak_mb), with_models.largest(&Round::peak_mb));
  memory.conditions = {{"measured", "peak resident memory of aflguard-gateway over all rounds"},
                       {"publishers", options.publishers},
                       {"limits", "defaults of [limits]"}};
  results.push_back(std::move(memory));
  return {};
}

Result<BenchResult> bench_client(Progress& progress) {
  constexpr std::size_t kSamples = 6000;
  constexpr std::size_t kUpdates = 20;
  progress.show("client_rss_mb", 0, 1);
  TRY(const auto fleet, BenchFleet::create(1));
  TRY_STATUS(fleet->start_gateway({.models_per_second = kEveryVerdict}));
  TRY(const double peak, fleet->client_peak_mb(kSamples, kUpdates));
  BenchResult result;
  result.name = "client_rss_mb";
  result.unit = "MB";
  result.value = peak;
  result.conditions = {{"measured", "peak resident memory of aflguard-client"},
                       {"model", "cnn"},
                       {"batch", 32},
                       {"samples", kSamples},
                       {"updates", kUpdates},
                       {"models_in_verdicts", "all"}};
  return result;
}

}  // namespace

Result<std::vector<BenchResult>> bench_gateway(const BenchGatewayOptions& options, Progress& progress) {
  std::vector<BenchResult> results;
  {
    progress.show("gateway: starting a fleet of " + std::to_string(options.publishers), 0, 1);
    TRY(GatewayLoad load, GatewayLoad::create(options));
    TRY_STATUS(bench_rates(options, load, progress, results));
  }
  TRY(auto client, bench_client(progress));
  results.push_back(std::move(client));
  if (options.stop && options.stop()) return unavailable("stopped");
  TRY(auto slow, bench_slow_link(kSlowLinkRounds, progress));
  results.push_back(std::move(slow));
  progress.finish();
  return results;
}

}  // namespace aflguard::bench
