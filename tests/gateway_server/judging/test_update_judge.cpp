#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/span_guard.h"
#include "core/recording/replay.h"
#include "tests/gateway_server/judging/judge_rig.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

/// Sends updates to a judge.
class JudgeBench final : public JudgeRig<> {
 public:
  explicit JudgeBench(std::vector<DeviceRecord> known = {},
                      std::unique_ptr<RecordingWriter> recording = nullptr)
      : JudgeRig(std::make_unique<AsyncSgd>(), rate_one(), std::move(known), std::move(recording)) {}

  void send(const std::string& device, std::uint64_t sequence, float value = 1) {
    ASSERT_OK(judge.judge(update(device, sequence, value)));
  }
  [[nodiscard]] VerifiedUpdate update(const std::string& device, std::uint64_t sequence, float value) const {
    VerifiedUpdate update{device, {}};
    update.message.sequence = sequence;
    update.message.base_version = aggregator.model().version();
    update.message.vector.assign(kDimension, value);
    return update;
  }
  [[nodiscard]] float parameter() const { return aggregator.model().parameters()[0]; }
};

}  // namespace

TEST("Nothing is answered before its commit, and everything once after it") {
  JudgeBench bench;
  bench.send("pi-1", 1);
  bench.send("pi-2", 1, 2);
  TEST_ASSERT_TRUE(bench.judge.has_pending());
  TEST_ASSERT_TRUE(bench.judge.take_replies().empty());
  ASSERT_OK(bench.judge.commit());
  const auto replies = bench.judge.take_replies();
  TEST_ASSERT_EQUAL_UINT64(2, replies.size());
  TEST_ASSERT_EQUAL_STRING("pi-1", replies[0].device.c_str());
  TEST_ASSERT_EQUAL_UINT64(1, replies[0].version);
  TEST_ASSERT_EQUAL_UINT64(2, replies[1].version);
  TEST_ASSERT_TRUE(bench.judge.take_replies().empty());
  TEST_ASSERT_FALSE(bench.judge.has_pending());
  TEST_ASSERT_EQUAL_UINT64(1, bench.store.commits);  // one for the group
}

TEST("An update that comes twice before its commit is judged once and answered once") {
  JudgeBench bench;
  bench.send("pi-1", 1);
  bench.send("pi-1", 1);
  ASSERT_OK(bench.judge.commit());
  TEST_ASSERT_EQUAL_UINT64(1, bench.judge.take_replies().size());
  TEST_ASSERT_EQUAL_UINT64(1, bench.store.verdicts.size());
  TEST_ASSERT_EQUAL_UINT64(1, bench.judge.repeats());
  TEST_ASSERT_EQUAL_FLOAT(-1, bench.parameter());
}

TEST("An update that comes again after its commit gets the stored answer, and nothing is written for it") {
  JudgeBench bench;
  bench.send("pi-1", 1);
  ASSERT_OK(bench.judge.commit());
  const auto first = bench.judge.take_replies();
  bench.send("pi-1", 2);
  ASSERT_OK(bench.judge.commit());
  (void)bench.judge.take_replies();
  bench.send("pi-1", 1, 100);  // whatever it says this time
  ASSERT_OK(bench.judge.commit());
  const auto again = bench.judge.take_replies();
  TEST_ASSERT_EQUAL_UINT64(1, again.size());
  TEST_ASSERT_EQUAL_UINT64(first[0].version, again[0].version);
  TEST_ASSERT_EQUAL_UINT64(2, again[0].highest_sequence);
  TEST_ASSERT_EQUAL_UINT64(2, bench.store.commits);
  TEST_ASSERT_EQUAL_FLOAT(-2, bench.parameter());
}

TEST(
    "While the disk is full nothing is answered and nothing is lost; then everything is, once and in order") {
  JudgeBench bench;
  bench.store.disk_full = true;
  bench.send("pi-1", 1);
  TEST_ASSERT_FALSE(bench.judge.commit().ok());
  bench.send("pi-1", 2);
  bench.send("pi-1", 1);  // the device insists
  bench.send("pi-2", 7);
  TEST_ASSERT_FALSE(bench.judge.commit().ok());
  TEST_ASSERT_FALSE(bench.judge.commit().ok());
  TEST_ASSERT_TRUE(bench.judge.has_pending());
  TEST_ASSERT_TRUE(bench.judge.take_replies().empty() && bench.judge.take_judged().empty());
  bench.store.disk_full = false;
  ASSERT_OK(bench.judge.commit());
  TEST_ASSERT_EQUAL_UINT64(3, bench.judge.take_replies().size());
  TEST_ASSERT_EQUAL_UINT64(3, bench.store.verdicts.size());
  const auto judged = bench.judge.take_judged();
  TEST_ASSERT_EQUAL_UINT64(3, judged.size());
  for (std::uint64_t i = 0; i < 3; ++i) {
    TEST_ASSERT_EQUAL_UINT64(i + 1, bench.store.verdicts[i].iteration);
    TEST_ASSERT_EQUAL_UINT64(i + 1, judged[i].version);
    TEST_ASSERT_EQUAL_UINT64(bench.store.devices.at(judged[i].device).id, judged[i].id);
  }
  TEST_ASSERT_TRUE(bench.judge.take_judged().empty());
  TEST_ASSERT_EQUAL_UINT64(2, bench.store.devices.at("pi-1").window.highest());
  TEST_ASSERT_EQUAL_UINT64(7, bench.store.devices.at("pi-2").window.highest());
  TEST_ASSERT_EQUAL_FLOAT(-3, bench.parameter());
}

TEST("A repeat whose verdict cannot be read is not answered now, and is when it comes again later") {
  JudgeBench bench;
  bench.send("pi-1", 1);
  ASSERT_OK(bench.judge.commit());
  (void)bench.judge.take_replies();
  bench.store.unreadable = true;
  bench.send("pi-1", 1);
  TEST_ASSERT_FALSE(bench.judge.has_pending());
  ASSERT_CONTAINS(bench.log.text(), "a bad block");
  bench.store.unreadable = false;
  bench.send("pi-1", 1);
  ASSERT_OK(bench.judge.commit());
  TEST_ASSERT_TRUE(bench.judge.take_replies().at(0).accepted);
}

TEST(
    "A number below the window, or whose verdict was cleared away, is refused with the number to go on "
    "from") {
  JudgeBench bench;
  bench.send("pi-1", 100);
  ASSERT_OK(bench.judge.commit());
  (void)bench.judge.take_replies();
  bench.store.verdicts.clear();
  bench.send("pi-1", 36);
  bench.send("pi-1", 100);
  ASSERT_OK(bench.judge.commit());
  const auto replies = bench.judge.take_replies();
  TEST_ASSERT_EQUAL_UINT64(2, replies.size());
  for (const VerdictMessage& reply : replies) {
    TEST_ASSERT_FALSE(reply.accepted);
    TEST_ASSERT_EQUAL_UINT8(static_cast<std::uint8_t>(RefusalReason::kReplayed), reply.reason);
    TEST_ASSERT_EQUAL_UINT64(100, reply.highest_sequence);
  }
  const auto refused = bench.judge.take_refused();
  TEST_ASSERT_EQUAL_UINT64(2, refused.size());
  TEST_ASSERT_EQUAL_STRING("pi-1", refused[0].device.c_str());
  TEST_ASSERT_TRUE(refused[0].refusal.reason == RefusalReason::kReplayed);
  TEST_ASSERT_TRUE(bench.judge.take_refused().empty());
  TEST_ASSERT_EQUAL_FLOAT(-1, bench.parameter());
}

TEST("Devices keep their numbers, and new ones get numbers that nobody had") {
  DeviceRecord known;
  known.id = 41;
  known.name = "pi-1";
  known.window.record(5);
  JudgeBench bench({known});
  bench.send("pi-1", 6);
  bench.send("pi-9", 1);
  ASSERT_OK(bench.judge.commit());
  TEST_ASSERT_EQUAL_UINT64(41, bench.store.devices.at("pi-1").id);
  TEST_ASSERT_EQUAL_UINT64(42, bench.store.devices.at("pi-9").id);
}

TEST("A clock that jumps by years changes no verdict, no order and no answer, only the noted time") {
  JudgeBench bench;
  using std::chrono::hours;
  const auto now = bench.clock.wall();
  std::uint64_t sequence = 0;
  for (const auto jump : {hours(0), hours(-24 * 365 * 60), hours(24 * 365 * 80), hours(-1), hours(1)}) {
    bench.clock.set(now + jump);
    bench.send("pi-1", ++sequence);
    bench.send("pi-1", 1);
    ASSERT_OK(bench.judge.commit());
    for (const VerdictMessage& reply : bench.judge.take_replies()) TEST_ASSERT_TRUE(reply.accepted);
    TEST_ASSERT_EQUAL_UINT64(sequence, bench.store.verdicts.back().iteration);
    TEST_ASSERT_EQUAL_UINT64(sequence, bench.store.verdicts.back().version);
  }
  TEST_ASSERT_EQUAL_FLOAT(-5, bench.parameter());
}

TEST("A recording that is full ends with whole entries, and the fleet goes on") {
  const TemporaryFolder folder;
  RecordingHeader header;
  header.guard = "asyncsgd";
  header.guard_settings.dimension = kDimension;
  header.aggregator = rate_one();
  header.state = JudgeBench().aggregator.save();
  auto recording = RecordingWriter::create(folder.path(), header, 800);
  ASSERT_OK(recording);
  JudgeBench bench({}, std::move(*recording));
  for (std::uint64_t i = 1; i <= 20; ++i) {
    bench.send("pi-1", i);
    ASSERT_OK(bench.judge.commit());
  }
  TEST_ASSERT_EQUAL_UINT64(20, bench.judge.take_replies().size());
  TEST_ASSERT_EQUAL_UINT64(1, bench.log.lines().size());
  ASSERT_CONTAINS(bench.log.text(), "the recording ends here");
  const GuardKind kinds[] = {async_sgd_kind()};
  Replay replay(kinds);
  const auto segments = recording_segments(folder.path()).value();
  ASSERT_OK(replay.run(RecordingReader::open(segments.at(0)).value()));
  TEST_ASSERT_TRUE(replay.result().updates > 0 && replay.result().updates < 20);
  TEST_ASSERT_EQUAL_UINT64(0, replay.result().disagreed);
  TEST_ASSERT_FALSE(replay.result().cut_short);
}

TEST("A reference that does not fit is refused and is not recorded") {
  const TemporaryFolder folder;
  RecordingHeader header;
  header.guard = "asyncsgd";
  header.guard_settings.dimension = kDimension;
  header.aggregator = rate_one();
  header.state = JudgeBench().aggregator.save();
  JudgeBench bench({}, RecordingWriter::create(folder.path(), header).value());
  ReferenceUpdate reference;
  reference.vector.resize(kDimension + 1);
  TEST_ASSERT_FALSE(bench.judge.install_reference(reference, 0).ok());
  bench.send("pi-1", 1);
  ASSERT_OK(bench.judge.commit());
  const GuardKind kinds[] = {async_sgd_kind()};
  Replay replay(kinds);
  ASSERT_OK(replay.run(RecordingReader::open(recording_segments(folder.path()).value().at(0)).value()));
  TEST_ASSERT_EQUAL_UINT64(1, replay.result().updates);
  TEST_ASSERT_EQUAL_UINT64(0, replay.result().references);
}

namespace {

/// A judge whose guard compares devices: residuals of a model of three numbers, of which the first is the
/// trusted class's.
class VotingBench final {
 public:
  explicit VotingBench(const std::filesystem::path& folder) {
    settings.dimension = kDimension;
    settings.clients = 3;
    RecordingHeader header;
    header.guard = "span-guard";
    header.guard_settings = settings;
    header.aggregator = rate_one();
    header.state = aggregator.save();
    judge = std::make_unique<UpdateJudge>("orchard", aggregator, store, std::vector<DeviceRecord>{},
                                          RecordingWriter::create(folder, header).value(), clock, log);
    ReferenceUpdate reference;
    reference.vector.assign({1, 0, 0});
    reference.per_class = RowBundle(1, kDimension);
    reference.per_class.set_row(0, reference.vector);
    reference.derive();
    ASSERT_OK(judge->install_reference(reference, 0));
  }

  /// What three medians are after this update.
  double bound_after(const std::string& device, float residual) {
    VerifiedUpdate update{device, {}};
    update.message.sequence = ++sequence;
    update.message.base_version = aggregator.model().version();
    update.message.vector = {1, residual, 0};
    ASSERT_OK(judge->judge(update));
    ASSERT_OK(judge->commit());
    return judge->take_replies().at(0).bound;
  }

  GuardSettings settings;
  FailingStore store;
  SetClock clock;
  KeptLog log;
  Aggregator aggregator{rate_one(),
                        [] {
                          GuardSettings of;
                          of.dimension = kDimension;
                          of.clients = 3;
                          return make_guard(span_guard_kind(), of).value();
                        }(),
                        nullptr, std::vector<float>(kDimension)};
  std::unique_ptr<UpdateJudge> judge;
  std::uint64_t sequence = 0;
};

void expect_replay_to_agree(const std::filesystem::path& folder, std::uint64_t updates) {
  const GuardKind kinds[] = {span_guard_kind()};
  Replay replay(kinds);
  ASSERT_OK(replay.run(RecordingReader::open(recording_segments(folder).value().at(0)).value()));
  TEST_ASSERT_EQUAL_UINT64(updates, replay.result().updates);
  TEST_ASSERT_EQUAL_STRING("", replay.result().first_disagreement.c_str());
}

}  // namespace

TEST("A device that was silent too long votes no longer, until it speaks again; a replay agrees") {
  const TemporaryFolder folder;
  VotingBench bench(folder.path());
  bench.judge->count_voters({.silence = std::chrono::hours(1)});
  const auto start = bench.clock.wall();
  (void)bench.bound_after("pi-1", 9);
  (void)bench.bound_after("pi-2", 5);
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 3 * 5, bench.bound_after("pi-3", 4));
  bench.clock.set(start + std::chrono::minutes(50));
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 3 * 4, bench.bound_after("pi-2", 2));  // 9, 2, 4
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 3 * 2, bench.bound_after("pi-3", 1));  // 9, 2, 1
  bench.clock.set(start + std::chrono::minutes(61));                     // pi-1 is forgotten
  (void)bench.bound_after("pi-4", 1.5);
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 3 * 1.5, bench.bound_after("pi-3", 1));  // 2, 1, 1.5
  (void)bench.bound_after("pi-1", 3);
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 3 * 1.75, bench.bound_after("pi-3", 1));  // 2, 1, 1.5, 3
  expect_replay_to_agree(folder.path(), 9);
}

TEST("Only enrolled devices vote: one that is revoked is forgotten, and so is what it still sends") {
  const TemporaryFolder folder;
  VotingBench bench(folder.path());
  std::string revoked;
  bench.judge->count_voters(
      {.is_enrolled = [&revoked](std::string_view device) { return device != revoked; }});
  (void)bench.bound_after("pi-1", 9);
  (void)bench.bound_after("pi-2", 5);
  (void)bench.bound_after("pi-3", 4);
  (void)bench.bound_after("pi-4", 6);
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 3 * 5.5, bench.bound_after("pi-3", 4));  // 9, 5, 4, 6
  revoked = "pi-1";
  bench.judge->voters_changed({.everything = true});
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 3 * 5, bench.bound_after("pi-3", 4));  // 5, 4, 6
  (void)bench.bound_after("pi-1", 9);                                    // was under way
  TEST_ASSERT_DOUBLE_WITHIN(1e-4, 3 * 5, bench.bound_after("pi-3", 4));
  expect_replay_to_agree(folder.path(), 8);
}
