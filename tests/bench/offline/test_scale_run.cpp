#include "bench/offline/scale_run.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::bench;

TEST("A gateway without a network serves every device of a parked fleet that sends") {
  testing::TemporaryFolder folder;
  SilentProgress progress;
  const auto figures = run_scale(200, {.updates = 20, .silence_seconds = 0.1}, folder.path(), progress);
  ASSERT_OK(figures);
  TEST_ASSERT_EQUAL_size_t(200, figures->devices);
  TEST_ASSERT_TRUE(figures->update_cpu_us > 0 && figures->start_ms > 0 && figures->empty_start_ms > 0);
  TEST_ASSERT_TRUE(figures->book_mb > 0.05 && figures->store_mb > 0);
}
