#include <memory>
#include <string>
#include <thread>

#include "core/base/fair_queue.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

using Queue = FairQueue<std::string>;

auto in_a_minute() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(60);
}

void expect(Queue::Pushed wanted, Queue::Pushed got) {
  TEST_ASSERT_EQUAL_INT(static_cast<int>(wanted), static_cast<int>(got));
}

/// Everything that is in the queue, in the order in which it comes out.
std::string drain(Queue& queue) {
  std::string all;
  while (auto item = queue.try_pop()) all += (all.empty() ? "" : " ") + *item;
  return all;
}

}  // namespace

TEST("Every key has its turn, and items of one key keep their order") {
  Queue queue({});
  for (const char* item : {"a1", "a2", "a3", "a4"}) expect(Queue::Pushed::kTaken, queue.push("a", item));
  for (const char* item : {"b1", "b2"}) expect(Queue::Pushed::kTaken, queue.push("b", item));
  expect(Queue::Pushed::kTaken, queue.push("c", "c1"));
  TEST_ASSERT_EQUAL_STRING("a1 b1 c1 a2 b2 a3 a4", drain(queue).c_str());
  TEST_ASSERT_EQUAL_size_t(0, queue.size());
}

TEST("A key that comes late waits for one item of each of the others") {
  Queue queue({});
  for (int i = 0; i < 100; ++i) expect(Queue::Pushed::kTaken, queue.push("flood", "f"));
  TEST_ASSERT_EQUAL_STRING("f", queue.try_pop()->c_str());
  expect(Queue::Pushed::kTaken, queue.push("late", "l"));
  TEST_ASSERT_EQUAL_STRING("f", queue.try_pop()->c_str());
  TEST_ASSERT_EQUAL_STRING("l", queue.try_pop()->c_str());
}

TEST("Beyond the limits of a key its own oldest items go, and nobody else's") {
  Queue queue({.max_items_per_key = 2, .max_cost_per_key = 10});
  expect(Queue::Pushed::kTaken, queue.push("b", "b1", 4));
  for (const char* item : {"a1", "a2"}) expect(Queue::Pushed::kTaken, queue.push("a", item, 4));
  expect(Queue::Pushed::kTookOldest, queue.push("a", "a3", 4));
  expect(Queue::Pushed::kTookOldest, queue.push("a", "a4", 7));  // a3 and a4 cost more than 10
  expect(Queue::Pushed::kFull, queue.push("a", "a5", 11));
  TEST_ASSERT_EQUAL_size_t(11, queue.cost());
  TEST_ASSERT_EQUAL_STRING("b1 a4", drain(queue).c_str());
  TEST_ASSERT_EQUAL_size_t(0, queue.cost());
}

TEST("The queue as a whole holds its items and its cost, and refuses one more") {
  Queue queue({.max_items = 2, .max_cost = 10});
  expect(Queue::Pushed::kTaken, queue.push("a", "a1", 6));
  expect(Queue::Pushed::kFull, queue.push("b", "b1", 5));
  expect(Queue::Pushed::kTaken, queue.push("b", "b2", 4));
  expect(Queue::Pushed::kFull, queue.push("c", "c1", 0));
  TEST_ASSERT_EQUAL_STRING("a1 b2", drain(queue).c_str());
}

TEST("A lane whose last item went for one that did not fit is gone, and the key may come again") {
  Queue queue({.max_cost = 10, .max_items_per_key = 1});
  expect(Queue::Pushed::kTaken, queue.push("b", "b1", 9));
  expect(Queue::Pushed::kTaken, queue.push("a", "a1", 1));
  expect(Queue::Pushed::kFull, queue.push("a", "a2", 2));  // beside b1 there is no room for it
  TEST_ASSERT_EQUAL_size_t(1, queue.size());
  TEST_ASSERT_EQUAL_STRING("b1", drain(queue).c_str());
  expect(Queue::Pushed::kTaken, queue.push("a", "a3", 2));
  TEST_ASSERT_EQUAL_STRING("a3", drain(queue).c_str());
}

TEST("Who pushes to a full queue waits until something has left it") {
  Queue queue({.max_items = 1});
  expect(Queue::Pushed::kTaken, queue.push("a", "a1"));
  std::thread pushing([&] { expect(Queue::Pushed::kTaken, queue.push("b", "b1", 0, in_a_minute())); });
  TEST_ASSERT_EQUAL_STRING("a1", queue.pop_until(in_a_minute())->c_str());
  TEST_ASSERT_EQUAL_STRING("b1", queue.pop_until(in_a_minute())->c_str());
  pushing.join();
}

TEST("What is pushed first comes out before every key, however full the queue is") {
  Queue queue({.max_items = 1});
  expect(Queue::Pushed::kTaken, queue.push("a", "a1"));
  queue.push_first("x");
  queue.push_first("y");
  TEST_ASSERT_EQUAL_size_t(3, queue.size());
  TEST_ASSERT_EQUAL_STRING("x y a1", drain(queue).c_str());
}

TEST("Closing ends every wait; what is left still comes out, and nothing new goes in") {
  Queue queue({.max_items = 1});
  expect(Queue::Pushed::kTaken, queue.push("a", "a1"));
  std::thread pushing([&] { expect(Queue::Pushed::kClosed, queue.push("b", "b1", 0, in_a_minute())); });
  queue.close();
  pushing.join();
  queue.push_first("x");
  TEST_ASSERT_EQUAL_STRING("a1", queue.pop_until(in_a_minute())->c_str());
  TEST_ASSERT_FALSE(queue.pop_until(in_a_minute()).has_value());
}
