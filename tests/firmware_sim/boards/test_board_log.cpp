#include "core/telemetry/program_facts.h"
#include "firmware_sim/boards/board_log.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;

namespace {

std::string line(std::uint64_t sequence, bool accepted, std::uint64_t version) {
  return to_line(VerdictFact{sequence, accepted, accepted ? "accepted" : "too-far", version, 1}) + "\n";
}

std::string ready() {
  return to_line(ReadyFact{"f", "sim-01"}) + "\n";
}

}  // namespace

TEST("What the client states about its verdicts is understood") {
  const BoardLog log = parse_board_log(std::string(kPluggedIn) + ready() + line(1, true, 4) +
                                       line(2, false, 6) + "warning: something else\n" + line(3, true, 9));
  TEST_ASSERT_EQUAL_size_t(3, log.verdicts.size());
  TEST_ASSERT_TRUE((log.verdicts.at(1) == KnownVerdict{true, 4}));
  TEST_ASSERT_TRUE((log.verdicts.at(2) == KnownVerdict{false, 6}));
  TEST_ASSERT_EQUAL_size_t(2, log.accepted());
  TEST_ASSERT_EQUAL_size_t(1, log.rejected());
  TEST_ASSERT_EQUAL_size_t(1, log.starts);
  TEST_ASSERT_TRUE(log.connected);
}

TEST("A line that a killed board left unfinished counts for nothing, wherever it ends") {
  const std::string whole = line(7, true, 123);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const BoardLog log =
        parse_board_log(whole.substr(0, length) + std::string(kPluggedIn) + line(8, true, 124));
    TEST_ASSERT_EQUAL_size_t(1, log.verdicts.size());
    TEST_ASSERT_TRUE(log.verdicts.contains(8));
    TEST_ASSERT_FALSE(parse_board_log(whole.substr(0, length)).verdicts.contains(7));
  }
}

TEST(
    "A board that was plugged in again is not connected until it says so, and its console may end lines its "
    "way") {
  const std::string start(kPluggedIn);
  TEST_ASSERT_FALSE(parse_board_log(start + ready() + start).connected);
  std::string console = start + start + ready() + line(1, true, 2);
  for (auto at = console.find("}\n"); at != std::string::npos; at = console.find("}\n", at + 2)) {
    console.insert(at + 1, "\r");
  }
  const BoardLog log = parse_board_log(console);
  TEST_ASSERT_TRUE(log.connected);
  TEST_ASSERT_EQUAL_size_t(2, log.starts);
  TEST_ASSERT_TRUE(log.verdicts.contains(1));
}

TEST("What a board's journal puts before the client's facts on its console is not in the way") {
  const std::string verdicts = "[   41.204117] aflguard-client[312]: " + line(1, true, 2) +
                               "aflguard-byzantine-client[9]: " + line(2, false, 2) +
                               "[   43.000001] systemd[1]: verdict 3: accepted, version 3, delay 0\n";
  const BoardLog log = parse_board_log("[   40.9] aflguard-client[312]: " + ready() + verdicts);
  TEST_ASSERT_TRUE(log.connected);
  TEST_ASSERT_EQUAL_size_t(2, log.verdicts.size());
  TEST_ASSERT_TRUE((log.verdicts.at(1) == KnownVerdict{true, 2}));
  TEST_ASSERT_TRUE((log.verdicts.at(2) == KnownVerdict{false, 2}));
}

TEST("A board without a log has said nothing") {
  const testing::TemporaryFolder folder;
  const auto log = read_board_log(folder / "none.log");
  ASSERT_OK(log);
  TEST_ASSERT_TRUE(log->verdicts.empty());
}
