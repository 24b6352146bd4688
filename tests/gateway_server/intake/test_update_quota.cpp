#include <vector>

#include "gateway_server/intake/update_quota.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;

TEST("A device that sends too much finds its own places taken, and nobody else's") {
  UpdateQuota places(2);
  std::vector<UpdateQuota::Place> taken;
  for (int i = 0; i < 2; ++i) {
    taken.push_back(places.take("pi-1"));
    TEST_ASSERT_TRUE(taken.back() != nullptr);
  }
  TEST_ASSERT_TRUE(places.take("pi-1") == nullptr);
  TEST_ASSERT_TRUE(places.take("pi-2") != nullptr);
  TEST_ASSERT_TRUE(places.take("pi-1") == nullptr);
  const UpdateQuota::Place copy = taken.back();
  taken.pop_back();
  TEST_ASSERT_TRUE(places.take("pi-1") == nullptr);  // someone still has it
}

TEST("A place is free again when its update is gone, also after the room is") {
  UpdateQuota::Place last;
  {
    UpdateQuota places(1);
    for (int i = 0; i < 3; ++i) TEST_ASSERT_TRUE(places.take("pi-1") != nullptr);
    last = places.take("pi-1");
    TEST_ASSERT_TRUE(places.take("pi-1") == nullptr);
  }
  last.reset();
}

TEST("Places and their bytes are counted while they are held") {
  UpdateQuota places(2);
  UpdateQuota::Place first = places.take("pi-1", 100);
  const UpdateQuota::Place second = places.take("pi-2", 20);
  TEST_ASSERT_EQUAL_size_t(2, places.updates());
  TEST_ASSERT_EQUAL_size_t(120, places.bytes());
  first.reset();
  TEST_ASSERT_EQUAL_size_t(1, places.updates());
  TEST_ASSERT_EQUAL_size_t(20, places.bytes());
}
