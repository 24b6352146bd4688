#include <vector>

#include "core/base/nearest_name.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("A misspelt name finds the one that was meant, and nonsense finds none") {
  const std::vector<std::string_view> names = {"mnist", "fashion-mnist", "cifar-10", "har"};
  TEST_ASSERT_TRUE(nearest_name("minst", names) == "mnist");
  TEST_ASSERT_TRUE(nearest_name("cifar10", names) == "cifar-10");
  TEST_ASSERT_TRUE(nearest_name("fashionmnist", names) == "fashion-mnist");
  TEST_ASSERT_TRUE(nearest_name("zzzzzzz", names).empty());
}

TEST("The error line names what is wrong, the nearest name and all names") {
  const std::vector<std::string_view> names = {"mnist", "har"};
  const std::string line = unknown_name("data set", "mnst", names);
  ASSERT_CONTAINS(line, "unknown data set 'mnst'; did you mean 'mnist'? (known: mnist har)");
}
