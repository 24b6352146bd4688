// Files that must survive on a disk, and in a program, that goes wrong at every single call that changes
// them.
#include <array>
#include <cstdio>

#include "core/aggregation/aggregator.h"
#include "core/aggregation/guards/async_sgd.h"
#include "core/recording/recording_file.h"
#include "core/system/atomic_file.h"
#include "edge_client/sending/update_spool.h"
#include "tests/support/crash_calls.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr std::array kFaults = {CallFault::kKill, CallFault::kTear, CallFault::kFail, CallFault::kDropBytes,
                                CallFault::kDropNames};

using Steps = std::function<void(const std::function<void()>& done)>;

struct Subject {
  const char* name;
  std::function<void(const std::filesystem::path&)> prepare;
  std::function<void(const std::filesystem::path&, const std::function<void()>& done)> run;
  /// Fails the test when something acknowledged is missing.
  std::function<void(const std::filesystem::path&, const CrashOutcome&, const std::string& what)> check;
};

/// Every call, in every way.
void try_all(const Subject& subject) {
  const auto attempt = [&](CallFault fault, std::uint64_t point) {
    const TemporaryFolder folder(memory_folder());
    subject.prepare(folder.path());
    const Steps steps = [&](const std::function<void()>& done) { subject.run(folder.path(), done); };
    const CrashOutcome outcome = run_with_fault(folder.path(), fault, point, steps);
    const std::string what = std::string(subject.name) + ", fault " +
                             std::to_string(static_cast<int>(fault)) + " at call " + std::to_string(point);
    TEST_ASSERT_TRUE_MESSAGE(outcome.ended || (point > 0 && fault != CallFault::kFail), what.c_str());
    TEST_ASSERT_FALSE_MESSAGE(outcome.unsynced_rename, (what + ": renamed before it was synced").c_str());
    subject.check(folder.path(), outcome, what);
    return outcome.calls;
  };
  const std::uint64_t calls = attempt(CallFault::kKill, 0);
  TEST_ASSERT_TRUE(calls >= 4);
  std::uint64_t tried = 0;
  for (const CallFault fault : kFaults) {
    for (std::uint64_t point = 1; point <= calls; ++point, ++tried) (void)attempt(fault, point);
  }
  std::printf("%s: %llu calls, %llu crash points tried\n", subject.name,
              static_cast<unsigned long long>(calls), static_cast<unsigned long long>(tried));
}

std::string text_in(const std::filesystem::path& file) {
  return read_text_file(file).value();
}

}  // namespace

TEST("A file that is written atomically is the old one or the new one, whole; the new one once it was said") {
  try_all({.name = "atomic file",
           .prepare =
               [](const auto& folder) {
                 ASSERT_OK(write_file_atomically(folder / "book", std::string(9000, 'a')));
               },
           .run =
               [](const auto& folder, const auto& done) {
                 if (write_file_atomically(folder / "book", std::string(20'000, 'b')).ok()) done();
               },
           .check =
               [](const auto& folder, const CrashOutcome& outcome, const std::string& what) {
                 const std::string found = text_in(folder / "book");
                 const bool is_new = found == std::string(20'000, 'b');
                 TEST_ASSERT_TRUE_MESSAGE(is_new || (outcome.steps == 0 && found == std::string(9000, 'a')),
                                          what.c_str());
               }});
}

TEST("A folder that is replaced as a whole is the old one or the new one at every moment") {
  try_all({.name = "staged folder",
           .prepare =
               [](const auto& folder) {
                 auto staged = StagedDirectory::create(folder / "bundle", false).value();
                 ASSERT_OK(write_file_atomically(staged.path() / "key", "old"));
                 ASSERT_OK(write_file_atomically(staged.path() / "more", "old"));
                 ASSERT_OK(staged.commit());
               },
           .run =
               [](const auto& folder, const auto& done) {
                 auto staged = StagedDirectory::create(folder / "bundle", true);
                 if (staged.ok() && write_file_atomically(staged->path() / "key", "new").ok() &&
                     write_file_atomically(staged->path() / "more", "new").ok() && staged->commit().ok()) {
                   done();
                 }
               },
           .check =
               [](const auto& folder, const CrashOutcome& outcome, const std::string& what) {
                 const auto key = read_text_file(folder / "bundle" / "key");
                 const auto more = read_text_file(folder / "bundle" / "more");
                 TEST_ASSERT_TRUE_MESSAGE(key.ok() && more.ok(), what.c_str());
                 TEST_ASSERT_TRUE_MESSAGE(*key == *more, what.c_str());
                 TEST_ASSERT_TRUE_MESSAGE(outcome.steps == 0 || *key == "new", what.c_str());
               }});
}

TEST("A board's spool gives out what was stored and not finished, and no number twice") {
  constexpr int kUpdates = 3;
  const edge::UpdateAuthor author{"pi-1", {}};
  // Step 2 n - 1: update n is stored; step 2 n: it is finished.
  try_all({.name = "spool",
           .prepare = [](const auto&) {},
           .run =
               [&](const auto& folder, const auto& done) {
                 auto spool = edge::UpdateSpool::open(folder / "spool");
                 for (int i = 0; i < 4 && !spool.ok(); ++i) spool = edge::UpdateSpool::open(folder / "spool");
                 for (std::uint64_t n = 1; n <= kUpdates; ++n) {
                   const Bytes envelope(5000, static_cast<std::byte>(n));
                   while (!spool->store(n, author, envelope).ok()) {
                   }
                   done();
                   spool->finish(n);
                   done();
                 }
               },
           .check =
               [&](const auto& folder, const CrashOutcome& outcome, const std::string& what) {
                 auto spool = edge::UpdateSpool::open(folder / "spool");
                 TEST_ASSERT_TRUE_MESSAGE(spool.ok(), what.c_str());
                 TEST_ASSERT_TRUE_MESSAGE(spool->warnings().empty(), what.c_str());
                 const std::uint64_t stored = static_cast<std::uint64_t>(outcome.steps + 1) / 2;
                 TEST_ASSERT_TRUE_MESSAGE(spool->next_sequence() > stored, what.c_str());
                 const auto waiting = spool->take_waiting();
                 const bool open = outcome.steps % 2 == 1;  // its finish may have happened
                 if (waiting) {
                   TEST_ASSERT_TRUE_MESSAGE(waiting->sequence >= stored, what.c_str());
                   TEST_ASSERT_TRUE_MESSAGE(
                       waiting->envelope == Bytes(5000, static_cast<std::byte>(waiting->sequence)),
                       what.c_str());
                 }
                 TEST_ASSERT_TRUE_MESSAGE(open || waiting || spool->next_sequence() >= stored, what.c_str());
               }});
}

TEST("A recording that was cut off can be read up to where it was cut") {
  RecordingHeader header;
  header.fleet = "orchard";
  header.aggregator.learning_rate = 0.1;
  header.state =
      Aggregator(header.aggregator, std::make_unique<AsyncSgd>(), nullptr, std::vector<float>(3)).save();
  header.guard_settings.dimension = 3;
  try_all({.name = "recording",
           .prepare = [](const auto&) {},
           .run =
               [&](const auto& folder, const auto& done) {
                 auto writer = RecordingWriter::create(folder / "recording", header, 1 << 20);
                 if (!writer.ok()) return;
                 for (std::uint64_t n = 1; n <= 4; ++n) {
                   if ((*writer)->append(encode_entry(RecordedDeparture{n})).ok()) done();
                 }
               },
           .check =
               [](const auto& folder, const CrashOutcome& outcome, const std::string& what) {
                 const auto segments = recording_segments(folder / "recording");
                 if (!segments.ok()) return;  // it was never begun
                 auto reader = RecordingReader::open(segments->front());
                 TEST_ASSERT_TRUE_MESSAGE(reader.ok(), what.c_str());
                 std::uint64_t last = 0;
                 while (true) {
                   const auto entry = reader->next();
                   TEST_ASSERT_TRUE_MESSAGE(entry.ok(), (what + ": " + message_of(entry)).c_str());
                   if (!*entry) break;
                   const auto* departure = std::get_if<RecordedDeparture>(&**entry);
                   if (departure == nullptr) continue;
                   TEST_ASSERT_TRUE_MESSAGE(departure->client > last, what.c_str());
                   last = departure->client;
                 }
                 (void)outcome;
               }});
}
