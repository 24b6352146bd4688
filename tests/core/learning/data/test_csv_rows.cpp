// Tables as people have them: found delimiters, names as labels, cells without values, times, other columns.
#include <fstream>

#include "core/learning/data/csv.h"
#include "core/learning/data/csv_follower.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

const std::string kGerman =
    "\xef\xbb\xbf\"time\";\"temp\";\"power\";\"state\"\r\n"
    "18.11.2026 07:30:00;\"20,5\";1;\"idle\"\r\n"
    "18.11.2026 07:31:00;21,25;;run\r\n"
    "18.11.2026 07:32:00;n/a;3;run\r\n"
    "18.11.2026 07:33:00;22,75;2;idle\r\n";

CsvOptions machine(MissingCells missing = MissingCells::kRefuse) {
  CsvOptions options;
  options.delimiter = kFindDelimiter;
  options.classes = 2;
  options.class_names = {"idle", "run"};
  options.sample_shape = {2};
  options.missing = missing;
  return options;
}

Result<Dataset> read(const std::string& text, const CsvOptions& options) {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "t.csv", text));
  return read_csv_dataset("t", folder / "t.csv", options);
}

std::vector<float> features(const Result<Dataset>& data) {
  ASSERT_OK(data);
  return std::get<std::vector<float>>(data->features);
}

using Floats = std::vector<float>;
using Labels = std::vector<std::int64_t>;

void add_lines(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

}  // namespace

TEST("Semicolons, decimal commas, quotes, times and names as labels are read as they are") {
  const auto data = read(kGerman, machine(MissingCells::kSkip));
  TEST_ASSERT_TRUE((features(data) == Floats{20.5F, 1, 22.75F, 2}));
  TEST_ASSERT_TRUE((data->labels == Labels{0, 0}));
  TEST_ASSERT_EQUAL_size_t(2, data->left_out);
}

TEST("Cells without a value are refused, count as zero, or as the mean of their column") {
  ASSERT_CONTAINS(message_of(read(kGerman, machine())), "line 3, column 3: '' is not a number");
  ASSERT_CONTAINS(message_of(read(kGerman, machine())), "missing = \"skip\"");
  TEST_ASSERT_TRUE((features(read(kGerman, machine(MissingCells::kZero))) ==
                    Floats{20.5F, 1, 21.25F, 0, 0, 3, 22.75F, 2}));
  TEST_ASSERT_TRUE((features(read(kGerman, machine(MissingCells::kMean))) ==
                    Floats{20.5F, 1, 21.25F, 2, 21.5F, 3, 22.75F, 2}));
  CsvOptions packaged = machine(MissingCells::kMean);
  packaged.feature_means = {7, 8};
  TEST_ASSERT_TRUE((features(read(kGerman, packaged)) == Floats{20.5F, 1, 21.25F, 8, 7, 3, 22.75F, 2}));
}

TEST("A row without a label is left out whatever becomes of other cells, and never by default") {
  const std::string text = "1;2;idle\n3;4;\n";
  TEST_ASSERT_EQUAL_size_t(1, read(text, machine(MissingCells::kZero))->size());
  ASSERT_CONTAINS(message_of(read(text, machine())), "line 2, column 3: label: '' is not one of idle, run");
}

TEST("Labels that the model does not know stop with their lines") {
  std::string text = "1;2;idle\n1;2;jump\n";
  ASSERT_CONTAINS(message_of(read(text, machine())),
                  "line 2, column 3: label: 'jump' is not one of idle, run");
  for (int i = 0; i < 7; ++i) text += "1;2;fly\n";
  ASSERT_CONTAINS(message_of(read(text, machine())), "; the same on lines 3, 4, 5, 6, 7 and 2 more");
  ASSERT_CONTAINS(message_of(read("1;2;0\n", machine())), "'0' is not one of idle, run");
}

TEST("Classes that are called by numbers are found by number") {
  CsvOptions options = machine();
  options.class_names = {"3", "5"};
  TEST_ASSERT_TRUE((read("1;2;5.0\n1;2;3\n", options)->labels == Labels{1, 0}));
}

TEST("Features are chosen by name or number, in the order that is told, or by what to ignore") {
  const std::string text = "id,b,label,a\n7,2,idle,1\n8,4,run,3\n";
  CsvOptions options = machine();
  options.label_column = "label";
  options.columns = {"a", "1"};
  TEST_ASSERT_TRUE((features(read(text, options)) == Floats{1, 2, 3, 4}));
  options.columns = {};
  options.ignore = {"id"};
  TEST_ASSERT_TRUE((features(read(text, options)) == Floats{2, 1, 4, 3}));
  options.ignore = {};
  ASSERT_CONTAINS(message_of(read(text, options)),
                  "3 features, shape [2] needs 2 (4 columns, separated by ',')");
  options.ignore = {"nothing"};
  ASSERT_CONTAINS(message_of(read(text, options)), "no column 'nothing' among 4 (id, b, label, a)");
  options.ignore = {"label"};
  ASSERT_CONTAINS(message_of(read(text, options)), "'label' is the label and is named as another one too");
  options.ignore = {"a", "a"};
  ASSERT_CONTAINS(message_of(read(text, options)), "named twice");
}

TEST("Without a label column the last one that is left is the label") {
  CsvOptions options = machine();
  options.ignore = {"id"};
  TEST_ASSERT_TRUE((read("a,b,state,when,id\n1,2,run,7:30,5\n", options)->labels == Labels{1}));
}

TEST("A growing table whose columns change says so, and goes on with what is good") {
  const testing::TemporaryFolder folder;
  const fs::path path = folder / "log.csv";
  CsvFollower follower("log", path, machine(MissingCells::kSkip), 100);
  add_lines(path, "a;b;state\n1;2;idle\n1;2;jump\n1;;run\n");
  TEST_ASSERT_EQUAL_size_t(1, *follower.poll());
  TEST_ASSERT_EQUAL_size_t(2, follower.skipped());
  add_lines(path, "b;a;state\n3;4;run\n");
  TEST_ASSERT_EQUAL_size_t(0, *follower.poll());
  ASSERT_CONTAINS(follower.last_problem(), "line 6: the columns changed on line 5");
  add_lines(path, "a;b;state\n5;6;run\n");
  TEST_ASSERT_EQUAL_size_t(1, *follower.poll());
  add_lines(path, "1;2;3;run\n7;x;run\nerror;error;error\n8;9;idle\n");
  TEST_ASSERT_EQUAL_size_t(1, *follower.poll());
  TEST_ASSERT_EQUAL_size_t(3, follower.data().size());
  ASSERT_OK(follower.data().validate());
}

TEST("In a growing table missing cells become the mean of what was read so far") {
  const testing::TemporaryFolder folder;
  const fs::path path = folder / "log.csv";
  CsvFollower follower("log", path, machine(MissingCells::kMean), 4);
  add_lines(path, "1;2;idle\n3;;run\n");
  TEST_ASSERT_EQUAL_size_t(2, *follower.poll());
  TEST_ASSERT_TRUE((std::get<Floats>(follower.data().features) == Floats{1, 2, 3, 2}));
  add_lines(path, "5;4;idle\n;6;idle\n7;8;run\n9;10;run\n");
  TEST_ASSERT_EQUAL_size_t(4, *follower.poll());
  TEST_ASSERT_EQUAL_size_t(4, follower.data().size());
  TEST_ASSERT_TRUE((std::get<Floats>(follower.data().features) == Floats{5, 4, 5, 6, 7, 8, 9, 10}));
}
