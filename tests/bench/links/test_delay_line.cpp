#include "bench/links/delay_line.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::bench;
using namespace std::chrono_literals;

namespace {

constexpr double kRate = 8000;  // bits per second: 1000 bytes take a second
const DelayLine::Time kStart{100s};

}  // namespace

TEST("A packet arrives after its transmission and the delay") {
  DelayLine line(kRate, 50ms, 10);
  TEST_ASSERT_FALSE(line.next_arrival().has_value());
  line.push(Bytes(100), kStart);
  TEST_ASSERT_TRUE(line.next_arrival() == kStart + 150ms);
  TEST_ASSERT_FALSE(line.pop(kStart + 149ms).has_value());
  TEST_ASSERT_EQUAL_size_t(100, line.pop(kStart + 150ms)->size());
  TEST_ASSERT_FALSE(line.pop(kStart + 1h).has_value());
}

TEST("Packets leave one after the other, and a pause frees the line") {
  DelayLine line(kRate, 50ms, 10);
  line.push(Bytes(100), kStart);
  line.push(Bytes(200), kStart);
  TEST_ASSERT_EQUAL_size_t(100, line.pop(kStart + 10s)->size());
  TEST_ASSERT_TRUE(line.next_arrival() == kStart + 350ms);
  TEST_ASSERT_EQUAL_size_t(200, line.pop(kStart + 10s)->size());
  line.push(Bytes(100), kStart + 10s);
  TEST_ASSERT_TRUE(line.next_arrival() == kStart + 10s + 150ms);
}

TEST("What does not fit into the queue is lost and counted") {
  DelayLine line(kRate, 0ms, 2);
  for (int i = 0; i < 5; ++i) line.push(Bytes(10), kStart);
  TEST_ASSERT_EQUAL_size_t(3, line.lost());
  TEST_ASSERT_TRUE(line.pop(kStart + 1s).has_value());
  TEST_ASSERT_TRUE(line.pop(kStart + 1s).has_value());
  TEST_ASSERT_FALSE(line.pop(kStart + 1s).has_value());
}
