#include <string>

#include "gateway_server/intake/answer_budget.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace std::chrono_literals;

namespace {
constexpr AnswerBudget::Time kStart{1000s};
}

TEST("One device is answered once in a while, and another one meanwhile") {
  AnswerBudget budget({});
  TEST_ASSERT_TRUE(budget.take("pi-1", kStart));
  for (int i = 0; i < 100; ++i) TEST_ASSERT_FALSE(budget.take("pi-1", kStart + 999ms));
  TEST_ASSERT_TRUE(budget.take("pi-2", kStart + 999ms));
  TEST_ASSERT_TRUE(budget.take("pi-1", kStart + 1s));
  TEST_ASSERT_EQUAL_UINT64(100, budget.unanswered());
}

TEST("All together are answered at a bounded rate") {
  AnswerBudget budget({.per_second = 50});
  int answered = 0;
  for (int i = 0; i < 1000; ++i) answered += budget.take("pi-" + std::to_string(i), kStart) ? 1 : 0;
  TEST_ASSERT_EQUAL_INT(50, answered);
  TEST_ASSERT_TRUE(budget.take("pi-999", kStart + 1s));
}
