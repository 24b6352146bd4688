#include <fstream>
#include <vector>

#include "edge_client/training/sample_source.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;

namespace {

class KeptLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

}  // namespace

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
  TEST_ASSERT_EQUAL_size_t(1, log.lines.size());
  ASSERT_CONTAINS(log.lines[0], "1 rows skipped");
  TEST_ASSERT_EQUAL_size_t(2, (*source.samples())->size());
  TEST_ASSERT_EQUAL_size_t(1, log.lines.size());
}
