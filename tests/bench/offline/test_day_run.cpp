#include "bench/offline/day_run.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::bench;

TEST("A slice of a day ends with every update accepted, rejected or abandoned") {
  testing::TemporaryFolder folder;
  SilentProgress progress;
  DayOptions options;
  options.devices = 2000;
  options.updates = 60;
  options.plan.interrupted = 0.2;
  options.plan.abandoned = 0.2;
  const auto day = run_day(options, folder.path(), progress);
  if (!day.ok() && day.error().kind == ErrorKind::kNotFound) TEST_IGNORE_MESSAGE(day.error().message.c_str());
  ASSERT_OK(day);
  TEST_ASSERT_TRUE(day->begun > 30);
  TEST_ASSERT_EQUAL_size_t(day->begun, day->accepted + day->rejected + day->abandoned);
  TEST_ASSERT_TRUE(day->abandoned > 0 && day->accepted > day->rejected && day->rejected > 0);
  TEST_ASSERT_EQUAL_size_t(0, day->unanswered);
  TEST_ASSERT_TRUE(day->slice_seconds > 40 && day->update_bytes > 1000 && day->answer_bytes > 100);
  // A slow link needs longer than a fast one, whatever the gateway does.
  TEST_ASSERT_TRUE(day->by_link[0].median > day->by_link[kDayLinkCount - 1].median);
  TEST_ASSERT_TRUE(day->whole.median >= day->gateway.median);
}
