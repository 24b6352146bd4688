#include <array>
#include <string>

#include "core/identity/name_hash.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("A name has the same number in every run, and another name another one") {
  TEST_ASSERT_TRUE(name_hash("pi-1") == name_hash("pi-1"));
  TEST_ASSERT_TRUE(name_hash("pi-1") != name_hash("pi-2"));
  TEST_ASSERT_TRUE(name_hash("") != 0);
}

TEST("Names that follow each other are spread evenly") {
  std::array<int, 10> tenths{};
  constexpr int kNames = 10'000;
  for (int i = 0; i < kNames; ++i) {
    const double fraction = name_fraction("pi-" + std::to_string(i));
    TEST_ASSERT_TRUE(fraction >= 0 && fraction < 1);
    ++tenths[static_cast<std::size_t>(fraction * 10)];
  }
  for (const int tenth : tenths) TEST_ASSERT_INT_WITHIN(kNames / 50, kNames / 10, tenth);
}
