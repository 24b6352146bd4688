#include "firmware_sim/boards/board.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;
using testing::message_of;

TEST("Boards are numbered, and the last ones lie") {
  const auto boards = plan_boards({.boards = 3, .depth = "user", .malicious = 1, .attack = "gd"});
  ASSERT_OK(boards);
  TEST_ASSERT_EQUAL_size_t(3, boards->size());
  TEST_ASSERT_EQUAL_STRING("sim-01", boards->at(0).name.c_str());
  TEST_ASSERT_EQUAL_STRING("sim-03", boards->at(2).name.c_str());
  TEST_ASSERT_TRUE(boards->at(0).honest());
  TEST_ASSERT_TRUE(boards->at(1).honest());
  TEST_ASSERT_EQUAL_STRING("gd", boards->at(2).attack.c_str());
  TEST_ASSERT_TRUE(boards->at(0).depth == Depth::kUser);
}

TEST("Depths can be mixed, in the order in which they are named") {
  const auto boards = plan_boards({.depth = "board=2,user=3"});
  ASSERT_OK(boards);
  TEST_ASSERT_EQUAL_size_t(5, boards->size());
  TEST_ASSERT_TRUE(boards->at(1).depth == Depth::kBoard);
  TEST_ASSERT_TRUE(boards->at(2).depth == Depth::kUser);
  ASSERT_OK(plan_boards({.boards = 5, .depth = "board=2,user=3"}));
}

TEST("An order that cannot be met is refused with its value and the limit") {
  ASSERT_CONTAINS(message_of(plan_boards({.boards = 0})), "0 boards; a simulation has 1 to 64");
  ASSERT_CONTAINS(message_of(plan_boards({.boards = 65})), "65 boards; a simulation has 1 to 64");
  ASSERT_CONTAINS(message_of(plan_boards({.boards = 2, .malicious = 3})), "3 malicious of 2 boards");
  ASSERT_CONTAINS(message_of(plan_boards({.boards = 2, .depth = "usr"})), "did you mean 'user'?");
  ASSERT_CONTAINS(message_of(plan_boards({.boards = 4, .depth = "board=2,user=3"})),
                  "--boards 4 and --depth board=2,user=3 disagree");
  ASSERT_CONTAINS(message_of(plan_boards({.depth = "board=2,user"})),
                  "'user' in --depth board=2,user has no number");
  ASSERT_CONTAINS(message_of(plan_boards({.depth = "board=0"})),
                  "'0' in --depth board=0 is not a number of boards");
  ASSERT_CONTAINS(message_of(plan_boards({.depth = "board=99"})), "from 1 to 64");
  ASSERT_CONTAINS(message_of(plan_boards({.depth = "user=2,"})), "'' in --depth user=2, has no number");
  ASSERT_CONTAINS(message_of(plan_boards({.depth = "user=40,board=40"})), "80 boards");
}

TEST("A board is found by its name alone") {
  const auto boards = plan_boards({.boards = 2});
  ASSERT_OK(boards);
  TEST_ASSERT_TRUE(find_board(*boards, "sim-02") == &boards->at(1));
  TEST_ASSERT_NULL(find_board(*boards, "sim-2"));
}
