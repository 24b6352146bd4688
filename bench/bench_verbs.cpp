#include "bench/bench_verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "bench/bench_bytes.h"
#include "bench/bench_crowd.h"
#include "bench/bench_gateway.h"
#include "bench/bench_guard.h"
#include "bench/bench_monitor.h"
#include "bench/bench_train.h"
#include "bench/bench_watch.h"
#include "bench/offline/offline_bench.h"
#include "core/system/stop_signal.h"

namespace aflguard::bench {
namespace {

void print(const std::string& benchmark, const std::vector<BenchResult>& results, bool json) {
  if (json) {
    std::printf("%s\n", bench_document(benchmark, results).dump(2).c_str());
  } else {
    std::fputs(bench_table(results).c_str(), stdout);
  }
}

void add_train(CLI::App& app, Action& action) {
  struct Options {
    BenchTrainOptions train;
    bool json = false;
    bool no_baseline = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "train", "Cost of training steps beside PyTorch or plain C++, memory of a device that trains");
  verb->footer(
      "Example:\n  aflguard bench train --json\nThe baseline is PyTorch where python3-torch is installed, "
      "and otherwise "
      "the same networks in plain C++.");
  verb->add_option("--rounds", options->train.rounds, "Rounds in which ours and the baseline take turns")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--no-baseline", options->no_baseline, "Leave PyTorch out");
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->callback([options, &action] {
    action = [options]() -> Status {
      options->train.with_baseline = !options->no_baseline;
      StderrProgress progress;
      TRY(const auto results, bench_train(options->train, progress));
      print("train", results, options->json);
      return {};
    };
  });
}

void add_guard(CLI::App& app, Action& action, const lab::Catalog& catalog) {
  struct Options {
    BenchGuardOptions guard;
    bool json = false;
    bool no_baseline = false;
    bool no_run = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "guard", "Cost of judging and applying an update; every guard with up to a million clients");
  verb->footer(
      "Example:\n  aflguard bench guard --json\nThe run on MNIST is compared with PyTorch where "
      "python3-torch is installed.");
  verb->add_option("--rounds", options->guard.rounds, "Rounds in which ours and the baseline take turns")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--no-baseline", options->no_baseline, "Leave PyTorch out");
  verb->add_flag("--no-run", options->no_run, "Leave the run on MNIST out");
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->callback([options, &action, catalog] {
    action = [options, catalog]() -> Status {
      options->guard.with_baseline = !options->no_baseline;
      options->guard.with_run = !options->no_run;
      StderrProgress progress;
      TRY(const auto results, bench_guard(options->guard, catalog, progress));
      print("guard", results, options->json);
      return {};
    };
  });
}

void add_bytes(CLI::App& app, Action& action, const lab::Catalog& catalog) {
  struct Options {
    BenchBytesOptions bytes;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("bytes", "What updates and models weigh on the wire, and what encoding them costs");
  verb->footer("Example:\n  aflguard bench bytes --json\nNeeds MNIST: aflguard data get mnist.");
  verb->add_option("--updates", options->bytes.updates, "Updates of the run that is measured")
      ->check(CLI::Range(50, 100'000))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->callback([options, &action, catalog] {
    action = [options, catalog]() -> Status {
      StderrProgress progress;
      TRY(const auto results, bench_bytes(options->bytes, catalog, progress));
      print("bytes", results, options->json);
      return {};
    };
  });
}

void add_gateway(CLI::App& app, Action& action) {
  struct Options {
    BenchGatewayOptions gateway;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb =
      app.add_subcommand("gateway", "Updates per second of a gateway beside a subscriber that only counts");
  verb->footer(
      "Example:\n  aflguard bench gateway --json\nNeeds Mosquitto. The slow link needs root and iproute2; "
      "without them that figure is null.");
  verb->add_option("--rounds", options->gateway.rounds, "Rounds in which ours and the baseline take turns")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--publishers", options->gateway.publishers, "Client processes that send updates")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  verb->add_option("--updates", options->gateway.updates, "Updates per client and round")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str();
  verb->add_option("--reference-interval", options->gateway.reference_interval,
                   "Updates between two reference updates of the gateway")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->callback([options, &action] {
    action = [options]() -> Status {
      StderrProgress progress;
      // Ctrl-C must not leave folders, programs and network namespaces behind.
      TRY(const auto stop, StopSignal::install([] {}));
      options->gateway.stop = [&stop] { return stop->requested(); };
      TRY(const auto results, bench_gateway(options->gateway, progress));
      print("gateway", results, options->json);
      return {};
    };
  });
}

void add_device_crowd(CLI::App& app, Action& action) {
  struct Options {
    BenchCrowdOptions crowd;
    bool large = false;
    bool no_busy = false;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("crowd", "How evenly a gateway serves many distinct devices");
  verb->footer(
      "Example:\n  aflguard bench crowd --busy 40 --busy 400 --seconds 10 --stream 0 --json\nNeeds "
      "Mosquitto. "
      "A count of 0 leaves a part out.");
  BenchCrowdOptions& crowd = options->crowd;
  verb->add_option("--busy", crowd.busy, "Devices that always have one update under way; may be repeated")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  verb->add_option("--seconds", crowd.seconds, "Length of each of these spans, and of those with a flood")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
  verb->add_option("--burst", crowd.burst, "Devices that begin at once")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  verb->add_option("--stream", crowd.stream, "Devices that send one update each")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  verb->add_option("--per-second", crowd.per_second, "How many of these begin each second; 0: all at once")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  verb->add_option("--honest", crowd.honest, "Busy devices beside one that floods")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  verb->add_option("--clients", crowd.clients, "Real client processes that train")
      ->check(CLI::Range(0, 200))
      ->capture_default_str();
  verb->add_option("--client-seconds", crowd.client_seconds, "How long they train")
      ->check(CLI::Range(1.0, 86'400.0))
      ->capture_default_str();
  verb->add_flag("--no-busy", options->no_busy, "Leave the busy devices out");
  verb->add_option("--memory-bytes", crowd.memory_bytes,
                   "The gateway's [limits] memory_bytes; 0: its default")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->capture_default_str();
  verb->add_flag("--large", options->large,
                 "Updates of 560 KB under AFLGuard instead of a few hundred bytes");
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->callback([options, &action] {
    action = [options]() -> Status {
      StderrProgress progress;
      TRY(const auto stop, StopSignal::install([] {}));
      options->crowd.stop = [&stop] { return stop->requested(); };
      if (options->no_busy) options->crowd.busy.clear();
      options->crowd.model = options->large ? BenchModel::kCnn : BenchModel::kSmall;
      TRY(const auto results, bench_crowd(options->crowd, progress));
      print("crowd", results, options->json);
      return aims_hold(results);
    };
  });
}

std::vector<BenchResult> results_of(const std::vector<OfflineFigure>& figures) {
  std::vector<BenchResult> results;
  for (const OfflineFigure& figure : figures) {
    BenchResult result;
    result.name = figure.name;
    result.value = figure.value;
    result.unit = figure.unit;
    result.baseline_name = figure.baseline_name;
    if (!figure.baseline_name.empty()) result.baseline_value = figure.baseline;
    results.push_back(std::move(result));
  }
  return results;
}

void add_scale(CLI::App& app, Action& action) {
  struct Options {
    BenchScaleOptions scale;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("scale", "What a gateway costs with more and more enrolled devices");
  verb->footer("Example:\n  aflguard bench scale --devices 1000 --devices 100000 --json\nNeeds no broker.");
  verb->add_option("--devices", options->scale.devices, "Enrolled devices; may be repeated")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  verb->add_option("--updates", options->scale.each.updates, "Updates, each of another device")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb->add_option("--seconds", options->scale.each.silence_seconds, "Length of the silence")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->callback([options, &action] {
    action = [options]() -> Status {
      StderrProgress progress;
      TRY(const auto stop, StopSignal::install([] {}));
      options->scale.stop = [&stop] { return stop->requested(); };
      TRY(const auto figures, bench_scale(options->scale, progress));
      print("scale", results_of(figures), options->json);
      return {};
    };
  });
}

void add_day(CLI::App& app, Action& action) {
  struct Options {
    BenchDayOptions day;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(
      "day", "The busiest part of a very large fleet's day, in virtual time, and what hardware it needs");
  verb->footer(
      "Example:\n  aflguard bench day --devices 100000 --updates 2000 --json\nNeeds no broker. The slice of "
      "the day is as long as the fleet needs for --updates; docs/scale.md has the assumptions.");
  verb->add_option("--devices", options->day.devices, "Enrolled devices; may be repeated")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  verb->add_option("--updates", options->day.each.updates, "Updates of 140,000 numbers in each slice")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  verb->add_option("--cores", options->day.each.cores, "Of the gateway, in virtual time")
      ->check(CLI::Range(0.1, 1024.0))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->callback([options, &action] {
    action = [options]() -> Status {
      StderrProgress progress;
      TRY(const auto stop, StopSignal::install([] {}));
      options->day.each.stop = [&stop] { return stop->requested(); };
      TRY(const auto figures, bench_day(options->day, progress));
      print("day", results_of(figures), options->json);
      return {};
    };
  });
}

/// A benchmark with a crowd of devices that publish their status.
template <typename CrowdOptions>
struct CrowdBenchmark {
  const char* name;
  const char* about;
  const char* rounds;   ///< what happens in each
  const char* seconds;  ///< what they are the length of
  Result<std::vector<BenchResult>> (*run)(const CrowdOptions&, Progress&);
};

template <typename CrowdOptions>
void add_crowd(CLI::App& app, Action& action, const CrowdBenchmark<CrowdOptions>& benchmark) {
  struct Options {
    CrowdOptions crowd;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CrowdOptions& crowd = options->crowd;
  CLI::App* verb = app.add_subcommand(benchmark.name, benchmark.about);
  verb->footer(std::string("Example:\n  aflguard bench ") + benchmark.name +
               " --devices 1000 --json\nNeeds Mosquitto.");
  verb->add_option("--rounds", crowd.rounds, benchmark.rounds)
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--devices", crowd.devices, "Devices that tell their status")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  verb->add_option("--seconds", crowd.seconds, benchmark.seconds)
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  verb->add_option("--interval", crowd.interval, "Seconds between two status messages of one device")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->callback([options, &action, benchmark] {
    action = [options, benchmark]() -> Status {
      StderrProgress progress;
      TRY(const auto stop, StopSignal::install([] {}));
      options->crowd.stop = [&stop] { return stop->requested(); };
      TRY(const auto results, benchmark.run(options->crowd, progress));
      print(benchmark.name, results, options->json);
      return {};
    };
  });
}

}  // namespace

void add_bench_verbs(CLI::App& app, Action& action, const lab::Catalog& catalog) {
  add_train(app, action);
  add_guard(app, action, catalog);
  add_bytes(app, action, catalog);
  add_gateway(app, action);
  add_device_crowd(app, action);
  add_scale(app, action);
  add_day(app, action);
  add_crowd<BenchWatchOptions>(
      app, action,
      {"watch", "What it costs a gateway to watch many devices and tell of them",
       "Rounds in which quiet and busy spans take turns", "Length of each span", bench_watch});
  add_crowd<BenchMonitorOptions>(app, action,
                                 {"monitor", "How fast the monitor answers while many devices publish",
                                  "Rounds in which everything is measured again",
                                  "Length of the spans in which CPU time is measured", bench_monitor});
}

}  // namespace aflguard::bench
