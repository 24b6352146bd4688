// Unity compiled as C++ with an abort that throws: its own longjmp would skip the destructors of a test's
// objects.
#include "tests/support/test_aborted.h"
#include "unity.h"

#undef TEST_ABORT
#define TEST_ABORT() throw ::aflguard::testing::TestAborted()

#include "unity.c"
