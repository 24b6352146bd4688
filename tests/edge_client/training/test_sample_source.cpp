#include <fstream>

#include "edge_client/training/sample_source.h"
#include "tests/edge_client/kept_log.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;

TEST("A growing table is unavailable while it is empty, and gives what has come") {
  const TemporaryFolder folder;
  KeptLog log;
  CsvOptions options;
  options.classes = 2;
  options.sample_shape = {1};
  GrowingSamples source(CsvFollower("sensor", folder / "s.csv", options, 10), log);
  TEST_ASSERT_TRUE(source.samples().error().kind == ErrorKind::kUnavailable);
  std::ofstream(folder / "s.csv") << "1,0\n2,1\nbad,1\n";
  TEST_ASSERT_EQUAL_size_t(2, (*source.samples())->size());
  ASSERT_CONTAINS(log.text, "1 rows skipped");
  const std::string once = log.text;
  TEST_ASSERT_EQUAL_size_t(2, (*source.samples())->size());
  TEST_ASSERT_EQUAL_STRING(once.c_str(), log.text.c_str());
}
