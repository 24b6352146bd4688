#include <cmath>

#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/kardam.h"
#include "core/base/random.h"
#include "core/recording/recording_file.h"
#include "core/recording/replay.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kDimension = 7;

std::vector<float> noisy(Random& random, float centre) {
  std::vector<float> vector(kDimension);
  for (float& value : vector) value = centre + static_cast<float>(random.normal());
  return vector;
}

ReferenceUpdate reference_at(const Aggregator& aggregator) {
  ReferenceUpdate reference;
  reference.version = aggregator.model().version();
  reference.vector.assign(kDimension, 2.0F);
  reference.norm = std::sqrt(4.0 * kDimension);
  return reference;
}

std::unique_ptr<Guard> guard_of(const GuardKind& kind) {
  GuardSettings settings;
  settings.dimension = kDimension;
  settings.clients = 3;
  return make_guard(kind, settings).value();
}

RecordingHeader header_for(const GuardKind& kind, const Aggregator& aggregator,
                           const AggregatorOptions& options) {
  RecordingHeader header;
  header.fleet = "orchard";
  header.guard = kind.name;
  header.guard_settings.dimension = kDimension;
  header.guard_settings.clients = 3;
  header.aggregator = options;
  header.state = aggregator.save();
  return header;
}

/// Judges `count` updates as a gateway does and records them; one reference before every fifth.
std::filesystem::path record(const std::filesystem::path& folder, const GuardKind& kind, int count) {
  AggregatorOptions options;
  options.learning_rate = 0.01;
  options.history = 4;
  Aggregator aggregator(options, guard_of(kind), nullptr, std::vector<float>(kDimension, 0.5F));
  auto writer = RecordingWriter::create(folder, header_for(kind, aggregator, options));
  ASSERT_OK(writer);
  Random random(7);
  for (int i = 0; i < count; ++i) {
    if (i % 5 == 0) {
      const RecordedReference entry{reference_at(aggregator), aggregator.iteration()};
      ASSERT_OK(aggregator.install_reference(entry.reference, entry.due_since));
      ASSERT_OK((*writer)->append(encode_entry(entry)));
    }
    RecordedUpdate entry;
    entry.client = random.below(3);
    entry.device = "pi-" + std::to_string(entry.client);
    entry.sequence = static_cast<std::uint64_t>(i) + 1;
    entry.base_version = aggregator.model().version();
    const auto vector = noisy(random, i % 4 == 0 ? -6.0F : 2.0F);
    entry.verdict = aggregator.submit({entry.client, entry.base_version, vector}).value();
    entry.iteration = aggregator.iteration();
    entry.version = aggregator.model().version();
    ASSERT_OK((*writer)->append(encode_entry(entry, vector)));
  }
  return (*writer)->path();
}

Result<ReplayResult> replay(const std::filesystem::path& path) {
  const std::vector<GuardKind> kinds = {aflguard_kind(), kardam_kind()};
  Replay replay(kinds);
  TRY(const auto segments, recording_segments(path));
  for (const auto& segment : segments) {
    TRY(auto reader, RecordingReader::open(segment));
    TRY_STATUS(replay.run(std::move(reader)));
  }
  return replay.result();
}

}  // namespace

TEST("A recording replays to the same verdicts, with guards that keep state too") {
  for (const GuardKind& kind : {aflguard_kind(), kardam_kind()}) {
    const TemporaryFolder folder;
    (void)record(folder / "recording", kind, 40);
    const auto result = replay(folder / "recording");
    ASSERT_OK(result);
    TEST_ASSERT_EQUAL_UINT64(40, result->updates);
    TEST_ASSERT_EQUAL_UINT64(8, result->references);
    TEST_ASSERT_EQUAL_UINT64(0, result->disagreed);
    TEST_ASSERT_TRUE(result->accepted > 5 && result->accepted < 40);
    TEST_ASSERT_FALSE(result->cut_short);
  }
}

TEST("A gateway that starts again records a new segment, and updates between the two are missed") {
  const TemporaryFolder folder;
  const auto first = record(folder.path(), aflguard_kind(), 10);
  const auto second = record(folder.path(), aflguard_kind(), 10);
  TEST_ASSERT_EQUAL_STRING("segment-000001.aflrec", first.filename().c_str());
  TEST_ASSERT_EQUAL_STRING("segment-000002.aflrec", second.filename().c_str());
  const auto result = replay(folder.path());
  ASSERT_OK(result);
  TEST_ASSERT_EQUAL_UINT64(2, result->segments);
  TEST_ASSERT_EQUAL_UINT64(20, result->updates);
}

TEST("A verdict that differs is found and named") {
  const TemporaryFolder folder;
  AggregatorOptions options;
  options.learning_rate = 1;
  Aggregator aggregator(options, guard_of(aflguard_kind()), nullptr, std::vector<float>(kDimension));
  auto writer = RecordingWriter::create(folder.path(), header_for(aflguard_kind(), aggregator, options));
  ASSERT_OK(writer);
  ASSERT_OK((*writer)->append(encode_entry(RecordedReference{reference_at(aggregator), 0})));
  RecordedUpdate lie;
  lie.iteration = 1;
  lie.device = "pi-7";
  lie.sequence = 12;
  lie.verdict.accepted = true;
  lie.verdict.reason = Reason::kAccepted;
  lie.version = 1;
  ASSERT_OK((*writer)->append(encode_entry(lie, std::vector<float>(kDimension, 99.0F))));
  const auto result = replay((*writer)->path());
  ASSERT_OK(result);
  TEST_ASSERT_EQUAL_UINT64(1, result->disagreed);
  ASSERT_CONTAINS(result->first_disagreement, "update 12 of device 'pi-7'");
  ASSERT_CONTAINS(result->first_disagreement, "the replay says too-far");
}

TEST("One flipped byte anywhere in a recording is noticed, and a cut end is said to be one") {
  const TemporaryFolder folder;
  const auto path = record(folder.path(), aflguard_kind(), 6);
  const auto whole = read_file(path);
  ASSERT_OK(whole);
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    auto damaged = *whole;
    damaged[random.below(damaged.size())] ^= std::byte{0x10};
    ASSERT_OK(write_file_atomically(path, damaged));
    const auto result = replay(path);
    TEST_ASSERT_TRUE(!result.ok() || result->cut_short || result->disagreed > 0);
  }
  ASSERT_OK(write_file_atomically(path, std::span(*whole).first(whole->size() - 3)));
  const auto cut = replay(path);
  ASSERT_OK(cut);
  TEST_ASSERT_TRUE(cut->cut_short);
  TEST_ASSERT_EQUAL_UINT64(5, cut->updates);
}

TEST("A recording that was cut anywhere, even in its first bytes, is replayed as far as it goes") {
  const TemporaryFolder folder;
  const auto path = record(folder.path(), aflguard_kind(), 3);
  const auto whole = read_file(path);
  ASSERT_OK(whole);
  std::uint64_t replayed = 0;
  for (std::size_t size = 0; size < whole->size(); ++size) {
    ASSERT_OK(write_file_atomically(path, std::span(*whole).first(size)));
    const auto result = replay(path);
    ASSERT_OK(result);
    TEST_ASSERT_EQUAL_UINT64(0, result->disagreed);
    TEST_ASSERT_TRUE(result->updates >= replayed);
    replayed = result->updates;
  }
  TEST_ASSERT_EQUAL_UINT64(2, replayed);
}

TEST("A folder without a recording and a file that is none are refused") {
  const TemporaryFolder folder;
  ASSERT_CONTAINS(message_of(replay(folder / "nothing")), "no recording there");
  ASSERT_OK(write_file_atomically(folder / "x.aflrec", "hello, I am no recording"));
  ASSERT_CONTAINS(message_of(replay(folder / "x.aflrec")), "is not a recording");
}
