#include <sys/resource.h>
#include <unistd.h>

#include "core/system/machine/descriptor_limit.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("The limit of open files is read of a process, and raised to what the system allows") {
  rlimit before{};
  TEST_ASSERT_EQUAL_INT(0, ::getrlimit(RLIMIT_NOFILE, &before));
  rlimit low = before;
  low.rlim_cur = 200;
  TEST_ASSERT_EQUAL_INT(0, ::setrlimit(RLIMIT_NOFILE, &low));
  TEST_ASSERT_EQUAL_UINT64(200, descriptor_limit_of(::getpid()).value_or(0));
  raise_descriptor_limit();
  TEST_ASSERT_EQUAL_UINT64(before.rlim_max, descriptor_limit_of(::getpid()).value_or(0));
  TEST_ASSERT_FALSE(descriptor_limit_of(0).has_value());
  TEST_ASSERT_EQUAL_INT(0, ::setrlimit(RLIMIT_NOFILE, &before));
}
