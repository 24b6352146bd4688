#include "firmware_sim/simulation/ledger_check.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;

namespace {

/// Two honest boards, a, b, and a malicious device, c: seven updates, all acknowledged.
struct Ledgers {
  std::vector<JudgedUpdate> history = {
      {1, "a", 1, true, 1}, {2, "b", 1, true, 2},  {3, "c", 1, false, 2}, {4, "a", 2, false, 2},
      {5, "b", 2, true, 3}, {6, "c", 7, false, 3}, {7, "a", 3, true, 4},
  };
  std::vector<BoardAccount> boards = {{"a", true, {}}, {"b", true, {}}, {"c", false, {}}};

  Ledgers() {
    for (const JudgedUpdate& update : history) {
      for (BoardAccount& board : boards) {
        if (board.name == update.device)
          board.log.verdicts[update.sequence] = {update.accepted, update.version};
      }
    }
  }
  [[nodiscard]] LedgerReport check() const { return check_ledgers(history, boards); }
};

}  // namespace

TEST(
    "Boards and gateway that know the same are in order; a malicious one may number its updates as it "
    "likes") {
  const LedgerReport report = Ledgers().check();
  TEST_ASSERT_TRUE(report.holds());
  TEST_ASSERT_EQUAL_size_t(7, report.judged);
  TEST_ASSERT_EQUAL_size_t(7, report.acknowledged);
}

TEST("An update that was judged and whose verdict has not come yet is in order") {
  Ledgers ledgers;
  ledgers.boards[0].log.verdicts.erase(3);
  TEST_ASSERT_TRUE(ledgers.check().holds());
}

TEST("The answer to a repeat may name a later model") {
  Ledgers ledgers;
  ledgers.boards[0].log.verdicts[1].version = 4;
  TEST_ASSERT_TRUE(ledgers.check().holds());
}

TEST("An acknowledged update that the gateway does not know is lost") {
  Ledgers ledgers;
  ledgers.boards[1].log.verdicts[3] = {true, 5};
  const LedgerReport report = ledgers.check();
  TEST_ASSERT_EQUAL_size_t(1, report.lost);
  TEST_ASSERT_FALSE(report.holds());
  ASSERT_CONTAINS(report.problems.at(0), "b's update 3 was acknowledged and is not in the history");
}

TEST("An update that was judged twice is found") {
  Ledgers ledgers;
  ledgers.history.push_back({8, "a", 3, true, 5});
  const LedgerReport report = ledgers.check();
  TEST_ASSERT_EQUAL_size_t(1, report.repeated);
  ASSERT_CONTAINS(report.problems.at(0), "a's update 3 was judged twice");
}

TEST("A board that was told otherwise than the gateway remembers is found") {
  Ledgers outcome;
  outcome.boards[0].log.verdicts[2].accepted = true;
  TEST_ASSERT_EQUAL_size_t(1, outcome.check().contradicted);
  Ledgers version;
  version.boards[0].log.verdicts[3].version = 3;  // a model that does not hold it
  TEST_ASSERT_EQUAL_size_t(1, version.check().contradicted);
}

TEST("Missing iterations, versions and sequence numbers are found") {
  Ledgers iteration;
  iteration.history.back().iteration = 8;
  TEST_ASSERT_EQUAL_size_t(1, iteration.check().gaps);
  Ledgers version;
  version.history.back().version = 5;
  version.boards[0].log.verdicts[3].version = 5;
  TEST_ASSERT_EQUAL_size_t(1, version.check().gaps);
  Ledgers rejected;
  rejected.history[2].version = 3;  // a rejected update made a version
  TEST_ASSERT_FALSE(rejected.check().holds());
  Ledgers sequence;
  sequence.history.push_back({8, "a", 5, false, 4});
  const LedgerReport report = sequence.check();
  TEST_ASSERT_EQUAL_size_t(1, report.gaps);
  ASSERT_CONTAINS(report.problems.at(0), "a's update 5 came where 4 was expected");
}

TEST("A history whose beginning was cleared away is not a loss") {
  Ledgers ledgers;
  ledgers.history.erase(ledgers.history.begin(), ledgers.history.begin() + 3);
  TEST_ASSERT_TRUE(ledgers.check().holds());
}

TEST("Problems are counted all and listed up to a limit") {
  Ledgers ledgers;
  for (std::uint64_t sequence = 100; sequence < 200; ++sequence)
    ledgers.boards[0].log.verdicts[sequence] = {true, 9};
  const LedgerReport report = ledgers.check();
  TEST_ASSERT_EQUAL_size_t(100, report.lost);
  TEST_ASSERT_EQUAL_size_t(kMaxProblems, report.problems.size());
}
