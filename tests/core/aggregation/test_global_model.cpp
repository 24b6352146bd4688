#include <limits>
#include <vector>

#include "core/aggregation/global_model.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

void advance(GlobalModel& model, float to) {
  std::fill(model.next().begin(), model.next().end(), to);
  model.commit(1);
}

}  // namespace

TEST("Earlier versions stay readable as long as the history reaches, and no longer") {
  const std::vector<float> zero(3);
  GlobalModel model(zero, 2);
  for (int v = 1; v <= 5; ++v) advance(model, static_cast<float>(v));
  TEST_ASSERT_EQUAL_UINT64(5, model.version());
  TEST_ASSERT_EQUAL_UINT64(3, model.oldest());
  TEST_ASSERT_EQUAL_FLOAT(5, model.parameters()[0]);
  TEST_ASSERT_EQUAL_FLOAT(4, model.at(4)[1]);
  TEST_ASSERT_EQUAL_FLOAT(3, model.at(3)[2]);
  TEST_ASSERT_TRUE(model.at(2).empty());
  TEST_ASSERT_TRUE(model.at(6).empty());
}

TEST("Writing the next version leaves the kept ones alone until it is committed") {
  const std::vector<float> zero(3);
  GlobalModel model(zero, 1);
  advance(model, 1);
  std::fill(model.next().begin(), model.next().end(), 9.0F);
  TEST_ASSERT_EQUAL_FLOAT(1, model.parameters()[0]);
  TEST_ASSERT_EQUAL_FLOAT(0, model.at(0)[0]);
}

TEST("A step that could leave float's range is refused, also as a NaN, and the bound recovers") {
  const std::vector<float> zero(2);
  GlobalModel model(zero, 0);
  TEST_ASSERT_FALSE(model.can_move_by(std::numeric_limits<double>::infinity()));
  TEST_ASSERT_FALSE(model.can_move_by(std::numeric_limits<double>::quiet_NaN()));
  TEST_ASSERT_FALSE(model.can_move_by(2e38));
  // Steps whose bound adds up past the range, while the parameters themselves stay small.
  for (int i = 0; i < 5; ++i) {
    TEST_ASSERT_TRUE(model.can_move_by(1e38));
    std::fill(model.next().begin(), model.next().end(), 1.0F);
    model.commit(1e38);
  }
}
