#include "bench/bench_monitor.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "bench/bench_fleet.h"
#include "bench/bench_status_crowd.h"
#include "bench/terminal_process.h"
#include "core/base/random.h"
#include "core/base/rfc3339.h"
#include "core/system/programs.h"
#include "core/telemetry/device_summary.h"
#include "core/telemetry/telemetry_limits.h"
#include "fleet/monitor/frame_diff.h"
#include "fleet/monitor/monitor_screen.h"
#include "fleet/monitor/screen_reader.h"
#include "fleet/view/view_text.h"

namespace aflguard::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr view::ScreenSize kScreen{120, 40};
constexpr milliseconds kTimeout(60'000);
constexpr int kKeysPerRound = 20;
constexpr int kProbesPerRound = 10;
constexpr int kFrames = 100;
constexpr std::size_t kSmallFleet = 10;

double milliseconds_since(Clock::time_point begin, Clock::time_point end = Clock::now()) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// Devices that publish, on a separate thread, until this is destroyed.
class SpeakingCrowd final {
 public:
  SpeakingCrowd(StatusCrowd& crowd, double interval)
      : thread_([this, &crowd, interval] {
          constexpr std::chrono::hours kLong(100);
          failed_ = !crowd.pass(kLong, interval, [this] { return done_.load(); }).ok() && !done_;
        }) {}
  SpeakingCrowd(const SpeakingCrowd&) = delete;
  SpeakingCrowd& operator=(const SpeakingCrowd&) = delete;
  ~SpeakingCrowd() {
    done_ = true;
    thread_.join();
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::atomic<bool> done_{false};
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

/// What was measured, one entry per repetition.
struct Measured {
  std::vector<double> start_s;
  std::vector<double> cpu_percent;
  std::vector<double> counter_cpu_percent;
  std::vector<double> bytes_per_second;
  std::vector<double> key_ms;
  std::vector<double> echo_ms;   ///< of a key, by a program that only echoes
  std::vector<double> probe_ms;  ///< from publishing to the screen
  std::vector<double> plain_ms;  ///< ... to a subscriber that only notes the time
  double peak_mb = 0;
};

/// A reader in front of the monitor.
class Watcher final {
 public:
  Watcher(TerminalProcess monitor, std::function<bool()> stop)
      : monitor_(std::move(monitor)), stop_(std::move(stop)) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  Status wait_for(const std::function<bool()>& seen) {
    TRY_STATUS(monitor_.read_until(
        take_, [&] { return stopped() || seen(); }, kTimeout));
    return stopped() ? unavailable("stopped") : Status();
  }
  Status look(std::chrono::duration<double> span) {
    TRY_STATUS(monitor_.read_for(take_, std::chrono::duration_cast<Clock::duration>(span)));
    return stopped() ? unavailable("stopped") : Status();
  }
  /// Milliseconds until `seen` after `keys`.
  Result<double> press(const std::string& keys, const std::function<bool()>& seen) {
    const auto begin = Clock::now();
    TRY_STATUS(monitor_.type(keys));
    TRY_STATUS(wait_for(seen));
    return milliseconds_since(begin);
  }

  [[nodiscard]] bool shows(std::string_view text) const { return screen_.shows(text); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] pid_t pid() const { return monitor_.pid(); }

 private:
  [[nodiscard]] bool stopped() const { return stop_ && stop_(); }

  TerminalProcess monitor_;
  std::function<bool()> stop_;
  view::ScreenReader screen_{kScreen};
  std::uint64_t bytes_ = 0;
  const TerminalProcess::Take take_ = [this](std::string_view bytes) {
    bytes_ += bytes.size();
    screen_.feed(bytes);
  };
};

/// A terminal whose program writes back what it reads: the floor for an answer to a key.
class Echo final {
 public:
  static Result<Echo> start() {
    // Without the terminal's own echo, so that it is the program which answers.
    TRY(auto process, TerminalProcess::start({"sh", "-c", "stty -echo; echo ready; exec cat"}, kScreen));
    Echo echo(std::move(process));
    TRY_STATUS(echo.wait_for("ready"));
    return echo;
  }
  Result<double> press() {
    const auto begin = Clock::now();
    TRY_STATUS(process_.type("x\n"));
    TRY_STATUS(wait_for("x"));
    return milliseconds_since(begin);
  }

 private:
  explicit Echo(TerminalProcess process) : process_(std::move(process)) {}
  Status wait_for(const std::string& text) {
    std::string said;
    return process_.read_until([&](std::string_view bytes) { said += bytes; },
                               [&] { return said.find(text) != std::string::npos; }, kTimeout);
  }
  TerminalProcess process_;
};

class MonitorBench final {
 public:
  MonitorBench(const BenchMonitorOptions& options, BenchFleet& fleet, StatusCrowd& crowd,
               LineProcess& counter, std::string probed)
      : options_(options), fleet_(fleet), crowd_(crowd), counter_(counter), probed_(std::move(probed)) {}

  Status round(Measured& measured) {
    const auto begin = Clock::now();
    TRY(const auto program, program_beside_us("aflguard"));
    TRY(auto process, TerminalProcess::start({program.string(), "monitor", "--fleet", fleet_.root().string(),
                                              "--identity", "operator"},
                                             kScreen));
    Watcher watcher(std::move(process), options_.stop);
    const std::string all = "devices " + view::grouped(options_.devices + 1);
    TRY_STATUS(watcher.wait_for([&] { return watcher.shows(all); }));
    measured.start_s.push_back(milliseconds_since(begin) / 1000);
    const SpeakingCrowd speaking(crowd_, options_.interval);
    TRY_STATUS(measure_cost(watcher, measured));
    TRY_STATUS(measure_keys(watcher, measured));
    TRY_STATUS(measure_probes(watcher, measured));
    if (speaking.failed()) return unavailable("the devices fell silent");
    TRY(const double peak, peak_mb(watcher.pid()));
    measured.peak_mb = std::max(measured.peak_mb, peak);
    return {};
  }

 private:
  Status measure_cost(Watcher& watcher, Measured& measured) {
    TRY_STATUS(watcher.look(std::chrono::seconds(2)));
    const double monitor = cpu_seconds(watcher.pid());
    const double counter = cpu_seconds(counter_.pid());
    const std::uint64_t bytes = watcher.bytes();
    const auto begin = Clock::now();
    TRY_STATUS(watcher.look(std::chrono::duration<double>(options_.seconds)));
    const double seconds = milliseconds_since(begin) / 1000;
    measured.cpu_percent.push_back((cpu_seconds(watcher.pid()) - monitor) / seconds * 100);
    measured.counter_cpu_percent.push_back((cpu_seconds(counter_.pid()) - counter) / seconds * 100);
    measured.bytes_per_second.push_back(static_cast<double>(watcher.bytes() - bytes) / seconds);
    return {};
  }

  /// The page of keys, and the devices again, at moments that the screen's own rhythm does not know.
  Status measure_keys(Watcher& watcher, Measured& measured) {
    TRY(Echo echo, Echo::start());
    const char* const page = "sort by the next, the one before";
    for (int i = 0; i < kKeysPerRound; ++i) {
      TRY_STATUS(watcher.look(milliseconds(100 + random_.below(600))));
      TRY(const double there, watcher.press("?", [&] { return watcher.shows(page); }));
      TRY(const double back, watcher.press("?", [&] { return !watcher.shows(page); }));
      measured.key_ms.push_back(there);
      measured.key_ms.push_back(back);
      TRY(const double floor, echo.press());
      measured.echo_ms.push_back(floor);
    }
    return {};
  }

  Status measure_probes(Watcher& watcher, Measured& measured) {
    for (int i = 0; i < kProbesPerRound; ++i) {
      TRY_STATUS(watcher.look(milliseconds(100 + random_.below(600))));
      const std::string text = "probe " + std::to_string(++probes_) + ".";
      auto status = nlohmann::ordered_json::parse(bench_status(probed_, probes_));
      status["state"] = "alert";
      status["message"] = text;
      const auto begin = Clock::now();
      TRY_STATUS(crowd_.publish(probed_, status.dump()));
      TRY_STATUS(watcher.wait_for([&] { return watcher.shows(text); }));
      measured.probe_ms.push_back(milliseconds_since(begin));
      if (crowd_.echo() < begin) return unavailable("a probe was on the screen before it came back");
      measured.plain_ms.push_back(milliseconds_since(begin, crowd_.echo()));
    }
    return {};
  }

  const BenchMonitorOptions& options_;
  BenchFleet& fleet_;
  StatusCrowd& crowd_;
  LineProcess& counter_;
  const std::string probed_;
  Random random_{17};
  std::uint64_t probes_ = 0;
};

std::string summary_message(const std::string& device, std::uint64_t turn) {
  DeviceSummary summary{.device = device,
                        .time = system_clock::now(),
                        .state = DeviceState::kTraining,
                        .accepted = turn,
                        .rejected = turn / 9,
                        .recent_rejected_share = 0.11,
                        .distance_ratio = 0.65,
                        .distance_trend = -0.02};
  for (std::size_t i = 0; i < kMaxRecentVerdicts; ++i) {
    const auto step = static_cast<double>((turn + i) % 7);
    const auto time_ms = 1'769'860'800'000 + static_cast<std::int64_t>(i);
    summary.recent.push_back({from_milliseconds(time_ms), 10 + step, 18.9, true});
  }
  return to_json(summary);
}

/// Milliseconds of CPU time that one frame of so many devices costs, all of which have spoken since the last.
Result<double> frame_ms(std::size_t devices) {
  TRY(auto picture, view::FleetState::create("bench", "operator"));
  TRY(const auto topics, FleetTopics::create("bench"));
  view::MonitorScreen screen(view::Glyphs::kUnicode);
  std::optional<view::Frame> shown;
  double sum = 0;
  for (int turn = 0; turn < kFrames; ++turn) {
    for (std::size_t i = 1; i <= devices; ++i) {
      const std::string device = "device-" + std::to_string(i);
      const auto number = static_cast<std::uint64_t>(turn);
      picture.take(topics.device_status(device), bench_status(device, number), system_clock::now());
      picture.take(topics.device_summary(device), summary_message(device, number), system_clock::now());
    }
    timespec begin{};
    timespec end{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    view::Frame frame = screen.render(picture, kScreen, system_clock::now(), {});
    const std::string bytes = view::frame_diff(shown, frame, true);
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    if (bytes.empty()) return internal_error("nothing changed on the screen");
    shown = std::move(frame);
    sum += static_cast<double>(end.tv_sec - begin.tv_sec) * 1e3 +
           static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-6;
  }
  return sum / kFrames;
}

BenchResult result_of(const std::string& name, const std::string& unit, const std::vector<double>& values,
                      const nlohmann::ordered_json& conditions) {
  BenchResult result;
  result.name = name;
  result.unit = unit;
  const Repetitions ours = summarise(values);
  result.value = ours.median;
  result.spread = ours.spread;
  result.conditions = conditions;
  result.conditions["measurements"] = values.size();
  result.conditions["longest"] = *std::max_element(values.begin(), values.end());
  return result;
}

BenchResult beside(BenchResult result, const std::string& name, const std::vector<double>& baseline) {
  result.baseline_name = name;
  result.baseline_value = summarise(baseline).median;
  return result;
}

}  // namespace

Result<std::vector<BenchResult>> bench_monitor(const BenchMonitorOptions& options, Progress& progress) {
  progress.show("monitor: starting a fleet", 0, 1);
  TRY(const auto fleet, BenchFleet::create(1));
  TRY_STATUS(fleet->pretend_devices(options.devices + 1));
  TRY_STATUS(fleet->start_gateway({}));
  TRY(const FleetTopics topics, FleetTopics::create(BenchFleet::name()));
  TRY(LineProcess counter,
      fleet->start_message_counter(
          "doctor", {topics.all_device_statuses(), topics.all_device_summaries(), topics.gateway_status(),
                     topics.gateway_metrics(), topics.events()}));
  const std::string probed = "device-" + std::to_string(options.devices + 1);
  TRY(const auto crowd, StatusCrowd::start(*fleet, options.devices, probed));
  progress.show("monitor: introducing " + std::to_string(options.devices) + " devices", 0, 1);
  TRY_STATUS(crowd->introduce(options.stop));
  TRY_STATUS(crowd->publish(probed, bench_status(probed, 0)));

  Measured measured;
  MonitorBench bench(options, *fleet, *crowd, counter, probed);
  std::vector<double> large_frames;
  std::vector<double> small_frames;
  const auto rounds = static_cast<std::size_t>(options.rounds);
  for (std::size_t round = 0; round < rounds; ++round) {
    progress.show("monitor_key_ms", round, rounds);
    TRY_STATUS(bench.round(measured));
    TRY(large_frames.emplace_back(), frame_ms(options.devices));
    TRY(small_frames.emplace_back(), frame_ms(kSmallFleet));
  }
  const nlohmann::ordered_json conditions = {
      {"devices", options.devices},
      {"status_interval_seconds", options.interval},
      {"screen", std::to_string(kScreen.columns) + " x " + std::to_string(kScreen.rows)},
      {"rounds", options.rounds},
      {"broker", "Mosquitto over TLS 1.3 with client certificates"}};
  nlohmann::ordered_json drawn = conditions;
  drawn["screens_per_second"] = 2;
  std::vector<BenchResult> results;
  results.push_back(beside(result_of("monitor_key_ms", "ms", measured.key_ms, conditions),
                           "the same key at cat, on another terminal", measured.echo_ms));
  results.push_back(beside(result_of("monitor_message_ms", "ms", measured.probe_ms, drawn),
                           "the same message at a subscriber that only notes the time", measured.plain_ms));
  results.push_back(beside(result_of("monitor_frame_ms", "ms", large_frames, drawn),
                           "a fleet of " + std::to_string(kSmallFleet), small_frames));
  results.push_back(beside(result_of("monitor_cpu_percent", "% of a core", measured.cpu_percent, drawn),
                           "nothing but Paho, counting the same messages at the same time",
                           measured.counter_cpu_percent));
  results.push_back(result_of("monitor_start_s", "s", measured.start_s, conditions));
  results.push_back(result_of("monitor_bytes_per_s", "B/s", measured.bytes_per_second, drawn));
  results.push_back(result_of("monitor_rss_mb", "MB", {measured.peak_mb}, conditions));
  progress.finish();
  return results;
}

}  // namespace aflguard::bench
