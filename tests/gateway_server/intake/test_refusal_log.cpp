#include <thread>

#include "gateway_server/intake/refusal_log.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr RefusalLog::Time kLogStarts{std::chrono::hours(1)};
using std::chrono::seconds;

Refusal malformed() {
  return refuse(RefusalReason::kMalformed, "no piece at all");
}

}  // namespace

TEST("Every refusal is counted by its reason; one sender and reason get one line in a while") {
  KeptLog log;
  RefusalLog ledger(log);
  for (int i = 0; i < 1000; ++i) ledger.note("pi-1", malformed(), kLogStarts);
  ledger.note("pi-2", malformed(), kLogStarts);
  ledger.note("pi-1", refuse(RefusalReason::kOversized, "too large"), kLogStarts);
  TEST_ASSERT_EQUAL_UINT64(1002, ledger.total());
  TEST_ASSERT_EQUAL_UINT64(1001, ledger.counts().at("malformed"));
  TEST_ASSERT_EQUAL_UINT64(1, ledger.counts().at("oversized"));
  const auto lines = log.lines();
  TEST_ASSERT_EQUAL_UINT64(3, lines.size());
  TEST_ASSERT_EQUAL_STRING("refused (malformed) from 'pi-1': no piece at all", lines[0].c_str());
}

TEST("After a while there is a line again, and it tells how many were held back") {
  KeptLog log;
  RefusalLog ledger(log);
  for (int second = 0; second < 25; ++second) ledger.note("pi-1", malformed(), kLogStarts + seconds(second));
  const auto lines = log.lines();
  TEST_ASSERT_EQUAL_UINT64(3, lines.size());
  ASSERT_CONTAINS(lines[1], "(and 9 more like it)");
  ASSERT_CONTAINS(lines[2], "(and 9 more like it)");
}

TEST("Each sender is told of with its count, once after every change") {
  KeptLog log;
  RefusalLog ledger(log);
  for (int i = 0; i < 3; ++i) ledger.note("pi-1", malformed(), kLogStarts);
  ledger.note("pi-2", malformed(), kLogStarts);
  const auto first = ledger.take_senders();
  TEST_ASSERT_EQUAL_UINT64(2, first.size());
  TEST_ASSERT_TRUE(first[0].first == "pi-1" && first[0].second == 3);
  TEST_ASSERT_TRUE(ledger.take_senders().empty());
  ledger.note("pi-1", malformed(), kLogStarts);
  const auto second = ledger.take_senders();
  TEST_ASSERT_EQUAL_UINT64(1, second.size());
  TEST_ASSERT_EQUAL_UINT64(4, second[0].second);
  const auto lines = ledger.take_lines();
  TEST_ASSERT_EQUAL_STRING("pi-1", lines[0].sender.c_str());
  TEST_ASSERT_EQUAL_STRING("malformed: no piece at all", lines[0].text.c_str());
}

TEST("Lines for the topic of events are bounded, and taken once") {
  KeptLog log;
  RefusalLog ledger(log);
  for (int sender = 0; sender < 1000; ++sender) {
    ledger.note("pi-" + std::to_string(sender), malformed(), kLogStarts);
  }
  TEST_ASSERT_EQUAL_UINT64(50, ledger.take_lines().size());
  TEST_ASSERT_TRUE(ledger.take_lines().empty());
}

TEST("A whole fleet that is refused does not flood the log either: the rest is told as a number") {
  KeptLog log;
  RefusalLog ledger(log);
  for (int sender = 0; sender < 50'000; ++sender)
    ledger.note(std::to_string(sender), malformed(), kLogStarts);
  TEST_ASSERT_EQUAL_UINT64(50'000, ledger.total());
  TEST_ASSERT_EQUAL_UINT64(100, log.lines().size());
  ledger.note("pi-1", malformed(), kLogStarts + seconds(10));
  TEST_ASSERT_EQUAL_UINT64(102, log.lines().size());
  ASSERT_CONTAINS(log.lines()[100], "49900 more");
}

TEST("Refusals from several threads are all counted") {
  KeptLog log;
  RefusalLog ledger(log);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 1000; ++j) ledger.note("pi-1", malformed(), kLogStarts);
    });
  }
  for (std::thread& thread : threads) thread.join();
  TEST_ASSERT_EQUAL_UINT64(4000, ledger.total());
}
