#include "core/aggregation/guards/aflguard.h"
#include "gateway_server/judging/judge_thread.h"
#include "tests/gateway_server/judging/happenings.h"
#include "tests/gateway_server/judging/judge_rig.h"
#include "tests/support/test.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::chrono::seconds kLong(60);

/// A store whose disk a test fills and empties while the judging thread uses it.
class SwitchedStore final : public GatewayStore {
 public:
  [[nodiscard]] Result<StoredState> load() override { return store.load(); }
  [[nodiscard]] Status commit(const StoreCommit& commit) override {
    store.disk_full = disk_full;
    if (damaged) {
      failures.add(commit.iteration);
      return corrupt("gateway.db: was removed");
    }
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
  std::atomic<bool> damaged{false};
  Happenings<std::uint64_t> failures;
  Happenings<std::uint64_t> successes;
  FailingStore store;
};

/// Keeps what the judging hands on.
class KeptOutputs final : public JudgeListener {
 public:
  void on_judged(JudgedUpdate update) override { judged.add(std::move(update)); }
  void on_model(SharedModel model) override { models.add(model->version); }
  void on_reply(VerdictMessage reply) override { replies.add(std::move(reply)); }
  void on_refused(const std::string& device, const Refusal&) override { refused.add(device); }
  void on_reference_due(SharedModel model, std::uint64_t) override { references_due.add(model->version); }

  Happenings<JudgedUpdate> judged;
  Happenings<std::uint64_t> models;
  Happenings<VerdictMessage> replies;
  Happenings<std::string> refused;
  Happenings<std::uint64_t> references_due;  ///< the versions of their models
};

/// A judge on its thread.
class Bench final : public JudgeRig<SwitchedStore> {
 public:
  Bench() { thread.start(); }

  void send(std::uint64_t sequence) {
    VerifiedUpdate update{"pi-1", {}};
    update.message.sequence = sequence;
    update.message.vector.assign(kDimension, 1);
    TEST_ASSERT_TRUE(thread.submit(std::move(update)));
  }

  GatewayCounters counters;
  KeptOutputs out;
  JudgeThread thread{judge, {64, 1 << 20, 1}, out, counters, clock, log};
};

}  // namespace

TEST("With a full disk the judging waits, says so once, and goes on by itself when there is room") {
  Bench bench;
  TEST_ASSERT_EQUAL_UINT64(0, bench.out.models.wait_for(1)[0]);
  bench.store.disk_full = true;
  for (std::uint64_t i = 1; i <= 5; ++i) bench.send(i);
  (void)bench.store.failures.wait_for(2);
  TEST_ASSERT_TRUE(bench.counters.store_failing);
  TEST_ASSERT_EQUAL_UINT64(0, bench.out.replies.count());
  TEST_ASSERT_EQUAL_UINT64(1, bench.out.models.count());  // no model leaves that could be taken back
  bench.store.disk_full = false;
  TEST_ASSERT_EQUAL_UINT64(5, bench.out.replies.wait_for(5).size());
  bench.thread.stop();
  TEST_ASSERT_FALSE(bench.counters.store_failing);
  TEST_ASSERT_EQUAL_UINT64(5, bench.store.store.verdicts.size());
  TEST_ASSERT_EQUAL_UINT64(5, bench.counters.accepted);
  const auto judged = bench.out.judged.wait_for(5);  // each once, in order, with the device's count so far
  for (std::uint64_t i = 0; i < 5; ++i) TEST_ASSERT_EQUAL_UINT64(i + 1, judged[i].version);
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
  TEST_ASSERT_EQUAL_UINT64(0, bench.out.replies.count());
  TEST_ASSERT_TRUE(bench.store.store.verdicts.empty());
}

TEST(
    "A store that is damaged is not tried again: nothing is answered, the report says why, and the end is "
    "clean") {
  Bench bench;
  bench.send(1);
  (void)bench.out.replies.wait_for(1);
  bench.store.damaged = true;
  bench.send(2);
  (void)bench.store.failures.wait_for(1);
  wait_until("the report says so", [&] { return !bench.counters.store_report.text().empty(); });
  ASSERT_CONTAINS(bench.counters.store_report.text(), "gateway.db: was removed");
  TEST_ASSERT_TRUE(bench.counters.store_failing);
  bench.store.damaged = false;
  bench.send(3);
  bench.thread.stop();
  TEST_ASSERT_EQUAL_UINT64(1, bench.store.failures.count());
  TEST_ASSERT_EQUAL_UINT64(1, bench.out.replies.count());
  ASSERT_CONTAINS(bench.log.lines().back(), "nothing is answered any more");
}

TEST("A stored verdict that cannot be read is reported for its device, while others are answered") {
  Bench bench;
  bench.send(1);
  (void)bench.out.replies.wait_for(1);
  bench.store.store.unreadable = true;
  bench.send(1);
  bench.send(2);
  TEST_ASSERT_EQUAL_UINT64(2, bench.out.replies.wait_for(2).back().sequence);
  ASSERT_CONTAINS(bench.counters.store_report.text(),
                  "update 1 of device 'pi-1' could not be read: a bad block");
  TEST_ASSERT_FALSE(bench.counters.store_failing);
  bench.store.store.unreadable = false;
  bench.send(1);
  (void)bench.out.replies.wait_for(3);
  TEST_ASSERT_EQUAL_STRING("", bench.counters.store_report.text().c_str());
}

TEST("Told to stop, the judging first judges, commits and answers what waits") {
  Bench bench;
  for (std::uint64_t i = 1; i <= 64; ++i) bench.send(i);
  bench.thread.stop();
  TEST_ASSERT_EQUAL_UINT64(64, bench.out.replies.count());
  TEST_ASSERT_EQUAL_UINT64(64, bench.store.store.verdicts.size());
}

TEST("The judging goes on at once when the clock is set back or forward") {
  Bench bench;
  const auto now = bench.clock.wall();
  std::uint64_t sequence = 0;
  for (const int years : {-56, 70, 0}) {
    bench.clock.set(now + std::chrono::hours(24 * 365 * years));
    bench.send(++sequence);
    TEST_ASSERT_TRUE(bench.out.replies.wait_for(sequence).back().accepted);
  }
  const auto alive =
      std::chrono::steady_clock::time_point(std::chrono::milliseconds(bench.counters.judge_alive_ms));
  TEST_ASSERT_TRUE(bench.clock.steady() - alive < kLong);
}

TEST("What is too old is reported as refused") {
  Bench bench;
  bench.send(100);
  bench.send(1);
  TEST_ASSERT_EQUAL_STRING("pi-1", bench.out.refused.wait_for(1)[0].c_str());
}

namespace {

/// Steady time that only a test moves. Ahead of the real one, so that no wait ends early.
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

TEST("Reference updates take no more than their share of time, and come from the newest model") {
  JudgeRig<FailingStore, HandClock> rig(std::make_unique<AflGuard>(1.5), rate_one(/*reference_interval=*/1));
  ASSERT_OK(rig.judge.install_reference(reference_of_ones(0), 0));
  GatewayCounters counters;
  KeptOutputs out;
  JudgeThread thread(rig.judge, {64, 1 << 20, 0.1}, out, counters, rig.clock, rig.log);
  thread.start();
  std::uint64_t sequence = 0;
  const auto judge_one = [&] {
    VerifiedUpdate update{"pi-1", {}};
    update.message.sequence = ++sequence;
    update.message.base_version = sequence - 1;
    update.message.vector.assign(kDimension, 1);
    TEST_ASSERT_TRUE(thread.submit(std::move(update)));
    (void)out.replies.wait_for(sequence);
  };
  judge_one();
  TEST_ASSERT_EQUAL_UINT64(1, out.references_due.wait_for(1)[0]);
  ReferenceReady ready;
  ready.reference = reference_of_ones(1);
  ready.due_since = 1;
  ready.cost = std::chrono::milliseconds(10);
  thread.submit(std::move(ready));
  for (int i = 0; i < 3; ++i) judge_one();  // at the same moment: due, but not yet paid for
  TEST_ASSERT_EQUAL_UINT64(1, out.references_due.count());
  rig.clock.now += 89;
  judge_one();
  TEST_ASSERT_EQUAL_UINT64(1, out.references_due.count());
  rig.clock.now += 1;
  judge_one();
  TEST_ASSERT_TRUE(out.references_due.wait_for(2)[1] >= 5);
  thread.stop();
}
