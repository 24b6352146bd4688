#include <filesystem>
#include <fstream>

#include "core/learning/data/csv_follower.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

CsvOptions two_features(std::size_t classes = 2) {
  CsvOptions options;
  options.classes = classes;
  options.sample_shape = {2};
  return options;
}

void append(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

std::size_t new_samples(CsvFollower& follower) {
  const auto added = follower.poll();
  ASSERT_OK(added);
  return *added;
}

}  // namespace

TEST("Rows that are appended become samples, whole lines only") {
  const TemporaryFolder folder;
  const fs::path path = folder / "log.csv";
  CsvFollower follower("log", path, two_features(), 100);
  TEST_ASSERT_EQUAL_size_t(0, new_samples(follower));
  append(path, "a,b,label\n1,2,0\n3,4,");
  TEST_ASSERT_EQUAL_size_t(1, new_samples(follower));
  TEST_ASSERT_EQUAL_size_t(0, new_samples(follower));
  append(path, "1\n");
  TEST_ASSERT_EQUAL_size_t(1, new_samples(follower));
  TEST_ASSERT_EQUAL_size_t(2, follower.data().size());
  TEST_ASSERT_EQUAL_INT64(1, follower.data().labels[1]);
  ASSERT_OK(follower.data().validate());
  float features[2];
  follower.data().copy_features(1, features);
  TEST_ASSERT_EQUAL_FLOAT(4, features[1]);
}

TEST("A row that is not a sample is skipped and counted, and leaves nothing behind") {
  const TemporaryFolder folder;
  const fs::path path = folder / "log.csv";
  CsvFollower follower("log", path, two_features(), 100);
  append(path, "1,2,0\n1,x,0\n1,2,7\n1,2\n5,6,1\n");
  TEST_ASSERT_EQUAL_size_t(2, new_samples(follower));
  TEST_ASSERT_EQUAL_size_t(3, follower.skipped());
  ASSERT_CONTAINS(follower.last_problem(), "line 4: 2 columns, expected 3");
  ASSERT_OK(follower.data().validate());
}

TEST("Only the newest samples are kept") {
  const TemporaryFolder folder;
  const fs::path path = folder / "log.csv";
  CsvFollower follower("log", path, two_features(), 8);
  for (int i = 0; i < 100; ++i) append(path, std::to_string(i) + ",0,1\n");
  TEST_ASSERT_EQUAL_size_t(100, new_samples(follower));
  TEST_ASSERT_LESS_OR_EQUAL_size_t(10, follower.data().size());
  ASSERT_OK(follower.data().validate());
  float features[2];
  follower.data().copy_features(follower.data().size() - 1, features);
  TEST_ASSERT_EQUAL_FLOAT(99, features[0]);
}

TEST("A file that is replaced or cut short is read again; what was read stays") {
  const TemporaryFolder folder;
  const fs::path path = folder / "log.csv";
  CsvFollower follower("log", path, two_features(), 100);
  append(path, "1,2,0\n3,4,1\n");
  TEST_ASSERT_EQUAL_size_t(2, new_samples(follower));
  fs::rename(path, folder / "log.csv.1");
  TEST_ASSERT_EQUAL_size_t(0, new_samples(follower));
  append(path, "a,b,label\n5,6,0\n7,8,1\n9,9,1\n");
  TEST_ASSERT_EQUAL_size_t(3, new_samples(follower));
  fs::resize_file(path, 0);
  append(path, "5,5,0\n");
  TEST_ASSERT_EQUAL_size_t(1, new_samples(follower));
  TEST_ASSERT_EQUAL_size_t(6, follower.data().size());
}

TEST("Columns that cannot be the samples are an error, until the file is another one") {
  const TemporaryFolder folder;
  const fs::path path = folder / "log.csv";
  CsvFollower follower("log", path, two_features(), 100);
  append(path, "1,2,3,0\n");
  ASSERT_CONTAINS(message_of(follower.poll()), "3 features, shape [2] needs 2");
  fs::resize_file(path, 0);
  append(path, "1,2,0\n");
  TEST_ASSERT_EQUAL_size_t(1, new_samples(follower));
}

TEST("A line without end is skipped at the limit instead of growing for ever") {
  const TemporaryFolder folder;
  const fs::path path = folder / "log.csv";
  CsvOptions options = two_features();
  options.limits.line_bytes = 1000;
  CsvFollower follower("log", path, options, 100);
  append(path, "1,2,0\n" + std::string(200'000, '7'));
  TEST_ASSERT_EQUAL_size_t(1, new_samples(follower));
  TEST_ASSERT_GREATER_THAN_size_t(0, follower.skipped());
  append(path, "\n3,4,1\n");
  TEST_ASSERT_EQUAL_size_t(1, new_samples(follower));
}
