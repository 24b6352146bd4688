#include <condition_variable>

#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/async_sgd.h"
#include "gateway_server/judging/judge_thread.h"
#include "tests/gateway_server/judging/failing_store.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kDimension = 3;
constexpr std::chrono::seconds kLong(60);

AggregatorOptions rate_one() {
  AggregatorOptions options;
  options.learning_rate = 1;
  return options;
}

/// Lets one thread tell another what has happened.
template <typename T>
class Happenings final {
 public:
  void add(T value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    changed_.notify_all();
  }
  /// All of them, as soon as there are `count`.
  [[nodiscard]] std::vector<T> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    const bool there = changed_.wait_for(lock, kLong, [&] { return values_.size() >= count; });
    TEST_ASSERT_TRUE_MESSAGE(there, "it did not happen");
    return values_;
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return values_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> values_;
};

/// A store that can be told from outside, while the judging thread uses it, that its disk is full.
class SwitchedStore final : public GatewayStore {
 public:
  [[nodiscard]] Result<StoredState> load() override { return store.load(); }
  [[nodiscard]] Status commit(const StoreCommit& commit) override {
    store.disk_full = disk_full;
    const Status committed = store.commit(commit);
    (committed.ok() ? successes : failures).add(commit.iteration);
    return committed;
  }
  [[nodiscard]] Result<std::optional<VerdictRecord>> find_verdict(ClientId device,
                                                                  std::uint64_t sequence) override {
    return store.find_verdict(device, sequence);
  }
  [[nodiscard]] Status add_evaluation(const EvaluationRecord&) override { return {}; }

  std::atomic<bool> disk_full{false};
  Happenings<std::uint64_t> failures;
  Happenings<std::uint64_t> successes;
  FailingStore store;
};

class Bench final {
 public:
  Bench()
      : aggregator_(rate_one(), std::make_unique<AsyncSgd>(), nullptr, std::vector<float>(kDimension)),
        judge_("orchard", aggregator_, store, {}, nullptr, clock, log),
        thread(judge_, {64, 1 << 20, 1},
               {.reply = [this](const VerdictMessage& reply) { replies.add(reply); },
                .model = [this](const SharedModel& model) { models.add(model->version); },
                .want_reference = {},
                .refused = [this](const std::string& device, const Refusal&) { refused.add(device); }},
               counters, clock, log) {
    thread.start();
  }

  void send(std::uint64_t sequence) {
    VerifiedUpdate update{"pi-1", {}};
    update.message.sequence = sequence;
    update.message.vector.assign(kDimension, 1);
    TEST_ASSERT_TRUE(thread.submit(std::move(update)));
  }

  SwitchedStore store;
  SetClock clock;
  KeptLog log;
  GatewayCounters counters;
  Happenings<VerdictMessage> replies;
  Happenings<std::uint64_t> models;
  Happenings<std::string> refused;

 private:
  Aggregator aggregator_;
  UpdateJudge judge_;

 public:
  JudgeThread thread;
};

}  // namespace

TEST("With a full disk the judging waits, says so once, and goes on by itself when there is room") {
  Bench bench;
  TEST_ASSERT_EQUAL_UINT64(0, bench.models.wait_for(1)[0]);
  bench.store.disk_full = true;
  for (std::uint64_t i = 1; i <= 5; ++i) bench.send(i);
  (void)bench.store.failures.wait_for(2);
  TEST_ASSERT_TRUE(bench.counters.store_failing);
  TEST_ASSERT_EQUAL_UINT64(0, bench.replies.count());
  TEST_ASSERT_EQUAL_UINT64(1, bench.models.count());  // no model leaves that could be taken back
  bench.store.disk_full = false;
  TEST_ASSERT_EQUAL_UINT64(5, bench.replies.wait_for(5).size());
  bench.thread.stop();
  TEST_ASSERT_FALSE(bench.counters.store_failing);
  TEST_ASSERT_EQUAL_UINT64(5, bench.store.store.verdicts.size());
  TEST_ASSERT_EQUAL_UINT64(5, bench.counters.accepted);
  const auto lines = bench.log.lines();
  TEST_ASSERT_EQUAL_UINT64(2, lines.size());
  ASSERT_CONTAINS(lines[0], "nothing is answered until it can: the disk is full");
  ASSERT_CONTAINS(lines[1], "the store works again");
}

TEST("Told to stop while nothing can be stored, the judging ends without an answer") {
  Bench bench;
  bench.store.disk_full = true;
  bench.send(1);
  (void)bench.store.failures.wait_for(1);
  bench.thread.stop();
  TEST_ASSERT_EQUAL_UINT64(0, bench.replies.count());
  TEST_ASSERT_TRUE(bench.store.store.verdicts.empty());
}

TEST("Told to stop, the judging first judges, commits and answers what waits") {
  Bench bench;
  for (std::uint64_t i = 1; i <= 64; ++i) bench.send(i);
  bench.thread.stop();
  TEST_ASSERT_EQUAL_UINT64(64, bench.replies.count());
  TEST_ASSERT_EQUAL_UINT64(64, bench.store.store.verdicts.size());
}

TEST("The judging goes on at once when the clock is set back or forward") {
  Bench bench;
  const auto now = bench.clock.wall();
  std::uint64_t sequence = 0;
  for (const int years : {-56, 70, 0}) {
    bench.clock.set(now + std::chrono::hours(24 * 365 * years));
    bench.send(++sequence);
    TEST_ASSERT_TRUE(bench.replies.wait_for(sequence).back().accepted);
  }
  const auto alive =
      std::chrono::steady_clock::time_point(std::chrono::milliseconds(bench.counters.judge_alive_ms));
  TEST_ASSERT_TRUE(bench.clock.steady() - alive < kLong);
}

TEST("What is too old is told to whoever counts refusals") {
  Bench bench;
  bench.send(100);
  bench.send(1);
  TEST_ASSERT_EQUAL_STRING("pi-1", bench.refused.wait_for(1)[0].c_str());
}

namespace {

/// A reference that is always the same; nobody computes it.
ReferenceUpdate reference_of_ones(std::uint64_t version) {
  ReferenceUpdate reference;
  reference.version = version;
  reference.vector.assign(kDimension, 1);
  reference.derive();
  return reference;
}

/// Steady time that only a test moves. Ahead of the real one, so that nobody's patience ends.
class HandClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return {}; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return begin_ + std::chrono::milliseconds(now);
  }
  std::atomic<std::int64_t> now{0};

 private:
  const std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now() + std::chrono::hours(1);
};

}  // namespace

TEST("Server updates take no more than their share of time, and come from the newest model") {
  FailingStore store;
  HandClock clock;
  KeptLog log;
  GatewayCounters counters;
  AggregatorOptions options = rate_one();
  options.reference_interval = 1;
  Aggregator aggregator(options, std::make_unique<AflGuard>(1.5), nullptr, std::vector<float>(kDimension));
  UpdateJudge judge("orchard", aggregator, store, {}, nullptr, clock, log);
  ASSERT_OK(judge.install_reference(reference_of_ones(0), 0));
  Happenings<VerdictMessage> replies;
  Happenings<std::uint64_t> wanted;
  JudgeThread thread(
      judge, {64, 1 << 20, 0.1},
      {.reply = [&](const VerdictMessage& reply) { replies.add(reply); },
       .model = [](const SharedModel&) {},
       .want_reference = [&](const SharedModel& model, std::uint64_t) { wanted.add(model->version); }},
      counters, clock, log);
  thread.start();
  std::uint64_t sequence = 0;
  const auto judge_one = [&] {
    VerifiedUpdate update{"pi-1", {}};
    update.message.sequence = ++sequence;
    update.message.base_version = sequence - 1;
    update.message.vector.assign(kDimension, 1);
    TEST_ASSERT_TRUE(thread.submit(std::move(update)));
    (void)replies.wait_for(sequence);
  };
  judge_one();
  TEST_ASSERT_EQUAL_UINT64(1, wanted.wait_for(1)[0]);
  ReferenceReady ready;
  ready.reference = reference_of_ones(1);
  ready.due_since = 1;
  ready.cost = std::chrono::milliseconds(10);
  thread.submit(std::move(ready));
  for (int i = 0; i < 3; ++i) judge_one();  // at the same moment: due, but not yet paid for
  TEST_ASSERT_EQUAL_UINT64(1, wanted.count());
  clock.now += 89;
  judge_one();
  TEST_ASSERT_EQUAL_UINT64(1, wanted.count());
  clock.now += 1;
  judge_one();
  TEST_ASSERT_TRUE(wanted.wait_for(2)[1] >= 5);
  thread.stop();
}
