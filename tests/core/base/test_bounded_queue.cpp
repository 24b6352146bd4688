#include <memory>
#include <thread>

#include "core/base/bounded_queue.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {
auto soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(60);
}
}  // namespace

TEST("Items come out in order, and one above the limit is refused and counted") {
  BoundedQueue<int> queue(2, 100);
  TEST_ASSERT_TRUE(queue.push(1));
  TEST_ASSERT_TRUE(queue.push(2));
  TEST_ASSERT_FALSE(queue.push(3));
  TEST_ASSERT_EQUAL_size_t(1, queue.refused());
  TEST_ASSERT_EQUAL_INT(1, *queue.try_pop());
  TEST_ASSERT_TRUE(queue.push(4));
  TEST_ASSERT_EQUAL_INT(2, *queue.try_pop());
  TEST_ASSERT_EQUAL_INT(4, *queue.try_pop());
  TEST_ASSERT_FALSE(queue.try_pop().has_value());
}

TEST("The cost of all items stays within its limit, to the unit") {
  BoundedQueue<int> queue(100, 10);
  TEST_ASSERT_TRUE(queue.push(1, 6));
  TEST_ASSERT_FALSE(queue.push(2, 5));
  TEST_ASSERT_TRUE(queue.push(3, 4));
  TEST_ASSERT_EQUAL_size_t(10, queue.cost());
  TEST_ASSERT_EQUAL_INT(1, *queue.try_pop());
  TEST_ASSERT_EQUAL_size_t(4, queue.cost());
  TEST_ASSERT_FALSE(queue.push(4, static_cast<std::size_t>(-1)));
}

TEST("A waiting thread gets what another one pushes, and closing ends the wait") {
  BoundedQueue<std::unique_ptr<int>> queue(4, 4);
  std::thread producer([&] {
    TEST_ASSERT_TRUE(queue.push(std::make_unique<int>(7)));
    queue.close();
  });
  const auto item = queue.pop_until(soon());
  const auto end = queue.pop_until(soon());
  producer.join();
  TEST_ASSERT_TRUE(item.has_value());
  TEST_ASSERT_EQUAL_INT(7, **item);
  TEST_ASSERT_FALSE(end.has_value());
  TEST_ASSERT_FALSE(queue.push(nullptr));
}

TEST("A deadline that has passed ends the wait") {
  BoundedQueue<int> queue(1, 1);
  TEST_ASSERT_FALSE(queue.pop_until(std::chrono::steady_clock::now()).has_value());
}
