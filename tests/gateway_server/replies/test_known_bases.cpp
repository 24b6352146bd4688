#include "gateway_server/replies/known_bases.h"
#include "tests/support/test.h"

using namespace aflguard::gateway;

TEST("A base is known for the answer to its update, once") {
  KnownBases bases(10);
  bases.note("pi-1", 7, 300);
  TEST_ASSERT_FALSE(bases.take("pi-1", 6).has_value());
  TEST_ASSERT_FALSE(bases.take("pi-2", 7).has_value());
  TEST_ASSERT_TRUE(bases.take("pi-1", 7) == 300);
  TEST_ASSERT_FALSE(bases.take("pi-1", 7).has_value());
}

TEST("More devices than are remembered cost those before them their difference, nothing else") {
  KnownBases bases(2);
  bases.note("a", 1, 1);
  bases.note("b", 1, 2);
  bases.note("b", 2, 3);
  TEST_ASSERT_TRUE(bases.take("a", 1) == 1);
  bases.note("a", 2, 4);
  bases.note("c", 1, 5);
  TEST_ASSERT_FALSE(bases.take("a", 2).has_value());
  TEST_ASSERT_TRUE(bases.take("c", 1) == 5);
}
