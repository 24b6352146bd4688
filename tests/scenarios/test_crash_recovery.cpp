#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/span_guard.h"
#include "core/base/random.h"
#include "core/recording/replay.h"
#include "tests/scenarios/live_fleet.h"
#include "tests/support/forked_process.h"
#include "tests/support/from_environment.h"
#include "tests/support/random_moment.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr int kDevices = 3;

std::string device_name(int number) {
  return "pi-" + std::to_string(number);
}

/// A verdict as a device got it.
struct Received {
  std::uint64_t sequence = 0;
  bool accepted = false;
  int reason = 0;
  std::uint64_t delay = 0;
  std::uint64_t version = 0;  ///< of the model that came with it, where one came
  bool with_model = false;
  double parameter = 0;  ///< the first of that model
};

/// What devices know and the test wants to know: one line per verdict, written when it has come.
class VerdictLog final {
 public:
  explicit VerdictLog(std::filesystem::path path) : path_(std::move(path)) {}

  void add(const VerdictMessage& verdict) const {
    std::ofstream out(path_, std::ios::app);
    out.precision(9);
    out << verdict.sequence << ' ' << verdict.accepted << ' ' << int{verdict.reason} << ' ' << verdict.delay
        << ' ' << verdict.version << ' ' << verdict.model.has_value() << ' '
        << (verdict.model ? verdict.model->vector.front() : 0.0F) << '\n';
  }

  [[nodiscard]] std::vector<Received> read() const {
    std::ifstream in(path_);
    std::vector<Received> lines;
    for (std::string line; std::getline(in, line) && !in.eof();) {
      Received verdict;
      std::istringstream(line) >> verdict.sequence >> verdict.accepted >> verdict.reason >> verdict.delay >>
          verdict.version >> verdict.with_model >> verdict.parameter;
      lines.push_back(verdict);
    }
    return lines;
  }

 private:
  std::filesystem::path path_;
};

/// What device `number` sends under that sequence number.
using ValueOf = float (*)(int number, std::uint64_t sequence);

/// A fleet whose devices send one update after the other, each until its verdict comes, while the test breaks
/// whatever it likes.
class BusyFleet final {
 public:
  BusyFleet(const LiveFleetOptions& options, ValueOf values)
      : seed_(from_environment("AFLGUARD_SEED", 1)),
        rounds_(from_environment("AFLGUARD_ROUNDS", 4)),
        random_(seed_),
        fleet_(options),
        value_of_(values) {
    std::printf("AFLGUARD_SEED=%llu AFLGUARD_ROUNDS=%llu\n", static_cast<unsigned long long>(seed_),
                static_cast<unsigned long long>(rounds_));
    for (int number = 1; number <= kDevices; ++number) fleet_.enrol(device_name(number));
    fleet_.start_gateway();
    for (int number = 1; number <= kDevices; ++number) {
      logs_.emplace_back(fleet_.path() / (device_name(number) + ".verdicts"));
      processes_.emplace_back([this, number] { play(number); });
    }
  }

  /// Kills or pauses gateway, broker or both at random moments; each time every device must come to a new
  /// verdict.
  void break_things() {
    wait_for_progress();
    for (std::uint64_t round = 0; round < rounds_; ++round) {
      let_random_time_pass(random_, std::chrono::milliseconds(400));
      const std::uint64_t what = random_.below(6);
      if (what >= 4) {
        pause(what == 4 ? fleet_.gateway_pid() : fleet_.broker().pid());
        wait_for_progress();
        continue;
      }
      if (what != 0) fleet_.end_gateway(SIGKILL);
      if (what != 1) fleet_.broker().end(SIGKILL);
      if (what == 3) fleet_.launch_gateway();  // it has to wait for its broker
      if (what != 1) fleet_.broker().start();
      if (what == 1 || what == 2) fleet_.start_gateway();
      wait_for_progress();
    }
  }

  /// The devices finish what they have begun, and the gateway ends.
  void finish() {
    std::ofstream(stop_file()).close();
    for (ForkedProcess& process : processes_) TEST_ASSERT_EQUAL_INT(0, process.wait());
    fleet_.end_gateway(SIGTERM);
  }

  [[nodiscard]] LiveFleet& fleet() { return fleet_; }
  [[nodiscard]] std::vector<Received> received_by(int number) const {
    return logs_[static_cast<std::size_t>(number - 1)].read();
  }
  [[nodiscard]] float value_of(int number, std::uint64_t sequence) const {
    return value_of_(number, sequence);
  }
  /// The store's numbers for the devices, by their own.
  [[nodiscard]] std::map<ClientId, int> numbers() const {
    std::map<ClientId, int> numbers;
    for (const DeviceRecord& device : fleet_.devices()) numbers[device.id] = std::stoi(device.name.substr(3));
    return numbers;
  }

 private:
  void pause(pid_t program) {
    TEST_ASSERT_EQUAL_INT(0, ::kill(program, SIGSTOP));
    let_random_time_pass(random_, std::chrono::milliseconds(400));
    TEST_ASSERT_EQUAL_INT(0, ::kill(program, SIGCONT));
  }
  [[nodiscard]] std::filesystem::path stop_file() const { return fleet_.path() / "stop"; }

  void play(int number) {
    HandDevice device(fleet_, device_name(number));
    std::uint64_t version = 0;
    for (std::uint64_t sequence = 1; !std::filesystem::exists(stop_file()); ++sequence) {
      const VerdictMessage verdict =
          device.insist(device.update(sequence, version, value_of_(number, sequence)));
      version = verdict.version;
      logs_[static_cast<std::size_t>(number - 1)].add(verdict);
    }
  }

  void wait_for_progress() {
    for (int number = 1; number <= kDevices; ++number) {
      const std::size_t before = received_by(number).size();
      wait_until(
          device_name(number) + " gets another verdict; the gateway's log is in " + fleet_.path().string(),
          [&] {
            TEST_ASSERT_TRUE_MESSAGE(fleet_.gateway_runs(), fleet_.gateway_log().c_str());
            TEST_ASSERT_TRUE(processes_[static_cast<std::size_t>(number - 1)].running());
            return received_by(number).size() > before;
          });
    }
  }

  std::uint64_t seed_;
  std::uint64_t rounds_;
  Random random_;
  LiveFleet fleet_;
  ValueOf value_of_;
  std::vector<VerdictLog> logs_;
  std::vector<ForkedProcess> processes_;
};

/// Iterations and versions without a gap, and no update twice.
void check_history(const std::vector<VerdictRecord>& history) {
  std::set<std::pair<ClientId, std::uint64_t>> seen;
  std::uint64_t version = 0;
  for (std::size_t i = 0; i < history.size(); ++i) {
    TEST_ASSERT_EQUAL_UINT64(i + 1, history[i].iteration);
    if (history[i].verdict.accepted) ++version;
    TEST_ASSERT_EQUAL_UINT64(version, history[i].version);
    TEST_ASSERT_TRUE_MESSAGE(seen.insert({history[i].device, history[i].sequence}).second, "judged twice");
  }
}

/// Every verdict that any device has seen is in the history with the same outcome, and nothing else is.
void check_received(const BusyFleet& busy, const std::vector<VerdictRecord>& history) {
  const auto numbers = busy.numbers();
  std::map<std::pair<int, std::uint64_t>, VerdictRecord> judged;
  for (const VerdictRecord& record : history) judged[{numbers.at(record.device), record.sequence}] = record;
  std::size_t received = 0;
  for (int number = 1; number <= kDevices; ++number) {
    std::uint64_t sequence = 0;
    for (const Received& verdict : busy.received_by(number)) {
      TEST_ASSERT_EQUAL_UINT64(++sequence, verdict.sequence);
      const auto found = judged.find({number, sequence});
      TEST_ASSERT_TRUE_MESSAGE(found != judged.end(), "an acknowledged update is not in the history");
      TEST_ASSERT_EQUAL(found->second.verdict.accepted, verdict.accepted);
      TEST_ASSERT_EQUAL_INT(static_cast<int>(found->second.verdict.reason), verdict.reason);
      TEST_ASSERT_EQUAL_UINT64(found->second.verdict.delay, verdict.delay);
      TEST_ASSERT_TRUE(verdict.version >= found->second.version);
      ++received;
    }
  }
  TEST_ASSERT_EQUAL_UINT64(received, history.size());
  std::printf("%zu updates judged\n", history.size());
}

/// A fleet that this guard judges and that is broken again and again: its recording agrees with its store.
void check_replay(const GuardKind& guard) {
  LiveFleetOptions options;
  options.guard = guard.name;
  options.learning_rate = 0.001;
  options.gateway_extra = "[recording]\nfolder = \"recording\"\n";
  BusyFleet busy(options, [](int number, std::uint64_t sequence) {
    if (sequence % 4 == 0) return 1000.0F;  // too far
    return -0.125F * static_cast<float>(number);
  });
  busy.break_things();
  busy.finish();
  const auto history = busy.fleet().history();
  check_history(history);
  check_received(busy, history);

  Replay replay(std::span(&guard, 1));
  std::uint64_t last = 0;
  const auto segments = recording_segments(busy.fleet().path() / "recording").value();
  for (const auto& path : segments) {
    ASSERT_OK(replay.run(RecordingReader::open(path).value()));
    auto reader = RecordingReader::open(path).value();
    while (auto entry = reader.next().value()) {
      const auto* update = std::get_if<RecordedUpdate>(&*entry);
      if (update == nullptr) continue;
      TEST_ASSERT_TRUE_MESSAGE(update->iteration > last && update->iteration <= history.size(), path.c_str());
      last = update->iteration;
      const VerdictRecord& stored = history[last - 1];
      TEST_ASSERT_EQUAL_UINT64(stored.sequence, update->sequence);
      TEST_ASSERT_EQUAL(stored.verdict.accepted, update->verdict.accepted);
      TEST_ASSERT_EQUAL_UINT64(stored.version, update->version);
    }
  }
  const ReplayResult& result = replay.result();
  TEST_ASSERT_EQUAL_STRING("", result.first_disagreement.c_str());
  TEST_ASSERT_EQUAL_UINT64(0, result.disagreed);
  TEST_ASSERT_EQUAL_UINT64(history.size(), result.updates + result.not_recorded);
  TEST_ASSERT_TRUE(result.accepted > 0 && result.accepted < result.updates);
  std::printf(
      "%llu replayed in %llu segments, %llu not recorded\n", static_cast<unsigned long long>(result.updates),
      static_cast<unsigned long long>(result.segments), static_cast<unsigned long long>(result.not_recorded));
}

}  // namespace

TEST("Whatever is killed, no acknowledged update is lost, none counts twice, and the model is their sum") {
  // Whole numbers: sums are exact in whatever order the updates come.
  BusyFleet busy({}, [](int number, std::uint64_t sequence) {
    return static_cast<float>(1 + (sequence * 3 + static_cast<std::uint64_t>(number)) % 5);
  });
  busy.break_things();
  busy.finish();
  const auto history = busy.fleet().history();
  check_history(history);
  check_received(busy, history);

  const auto numbers = busy.numbers();
  std::vector<double> models = {0};  // by version
  for (const VerdictRecord& record : history) {
    TEST_ASSERT_TRUE(record.verdict.accepted);
    models.push_back(models.back() - busy.value_of(numbers.at(record.device), record.sequence));
  }
  TEST_ASSERT_TRUE_MESSAGE(-models.back() < 1 << 24, "the sums are exact");
  for (const float parameter : busy.fleet().stored_model()) {
    TEST_ASSERT_EQUAL_DOUBLE(models.back(), parameter);
  }
  std::size_t models_received = 0;
  for (int number = 1; number <= kDevices; ++number) {
    for (const Received& verdict : busy.received_by(number)) {
      if (!verdict.with_model) continue;
      TEST_ASSERT_TRUE(verdict.version < models.size());
      TEST_ASSERT_EQUAL_DOUBLE(models[verdict.version], verdict.parameter);
      ++models_received;
    }
  }
  TEST_ASSERT_TRUE(models_received > 0);
}

TEST("Whatever is killed, what AFLGuard said can be replayed from the recording, verdict by verdict") {
  check_replay(aflguard_kind());
}

TEST("So can what SpanGuard said, whose votes and directions outlive every kill") {
  check_replay(span_guard_kind());
}
