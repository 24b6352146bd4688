#include "core/learning/data/csv.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;

namespace {

struct Table {
  testing::TemporaryFolder folder;
  std::filesystem::path path = folder / "table.csv";
  explicit Table(const std::string& text) { ASSERT_OK(write_file_atomically(path, text)); }
};

std::vector<std::vector<std::string>> all_rows(const std::filesystem::path& path, char delimiter) {
  auto reader = CsvReader::open(path, delimiter);
  ASSERT_OK(reader);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string_view> fields;
  while (true) {
    const auto more = reader->next(fields);
    ASSERT_OK(more);
    if (!*more) return rows;
    rows.emplace_back(fields.begin(), fields.end());
  }
}

using Rows = std::vector<std::vector<std::string>>;

std::string dataset_error(const std::string& text, const CsvOptions& options) {
  const Table table(text);
  const std::string message = message_of(read_csv_dataset("t", table.path, options));
  ASSERT_CONTAINS(message, table.path.string());
  return message;
}

}  // namespace

TEST("Rows are split at the delimiter, with or without a last newline") {
  TEST_ASSERT_TRUE((all_rows(Table("a,b\n1,2").path, ',') == Rows{{"a", "b"}, {"1", "2"}}));
  TEST_ASSERT_TRUE((all_rows(Table("a;b;\n").path, ';') == Rows{{"a", "b", ""}}));
  TEST_ASSERT_TRUE((all_rows(Table("a\tb\n").path, '\t') == Rows{{"a", "b"}}));
  TEST_ASSERT_TRUE(all_rows(Table("").path, ',').empty());
}

TEST("Carriage returns, a byte order mark and empty lines do not disturb") {
  TEST_ASSERT_TRUE((all_rows(Table("\xef\xbb\xbf"
                                   "a,b\r\n\r\n  \n1,2\r\n")
                                 .path,
                             ',') == Rows{{"a", "b"}, {"1", "2"}}));
}

TEST("A blank as delimiter takes any run of blanks and tabs") {
  TEST_ASSERT_TRUE(
      (all_rows(Table("  1   -2\t3  \n4 5 6\n").path, ' ') == Rows{{"1", "-2", "3"}, {"4", "5", "6"}}));
}

TEST("Quoted fields keep delimiters and doubled quotes") {
  TEST_ASSERT_TRUE(
      (all_rows(Table("\"a,b\", \"say \"\"x\"\"\" ,c\n").path, ',') == Rows{{"a,b", "say \"x\"", "c"}}));
}

TEST("A quote that is not closed, or followed by text, is refused at its line and column") {
  const CsvOptions options;
  ASSERT_CONTAINS(dataset_error("1,2\n3,\"4\n", options), "line 2, column 2: the quote is not closed");
  ASSERT_CONTAINS(dataset_error("1,2\n\"3\"x,4\n", options),
                  "line 2, column 1: text after the closing quote");
}

TEST("A table longer than the reader's buffer comes back whole") {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += std::to_string(i) + ",7\n";
  const Table table(text);
  const auto data = read_csv_dataset("t", table.path, {.classes = 8});
  ASSERT_OK(data);
  TEST_ASSERT_EQUAL_size_t(40000, data->size());
  const auto& features = std::get<std::vector<float>>(data->features);
  for (int i = 0; i < 40000; ++i)
    TEST_ASSERT_EQUAL_FLOAT(static_cast<float>(i), features[static_cast<std::size_t>(i)]);
}

TEST("The label column is found by header name, by number, or is the last") {
  const Table table("y,a,b\n1,10,20\n0,30,40\n");
  const auto by_name = read_csv_dataset("t", table.path, {.label_column = "y", .classes = 2});
  ASSERT_OK(by_name);
  TEST_ASSERT_TRUE((by_name->labels == std::vector<std::int64_t>{1, 0}));
  TEST_ASSERT_TRUE((std::get<std::vector<float>>(by_name->features) == std::vector<float>{10, 20, 30, 40}));
  TEST_ASSERT_TRUE(read_csv_dataset("t", table.path, {.label_column = "0", .classes = 2})->labels ==
                   by_name->labels);
  const auto last = read_csv_dataset("t", table.path, {});
  ASSERT_OK(last);
  TEST_ASSERT_TRUE((last->values == std::vector<float>{20, 40}));
  ASSERT_CONTAINS(message_of(read_csv_dataset("t", table.path, {.label_column = "z"})),
                  "no column 'z' among 3");
  ASSERT_CONTAINS(message_of(read_csv_dataset("t", table.path, {.label_column = "3"})), "no column '3'");
}

TEST("A header is detected only when no field is a number, and can be forced or denied") {
  ASSERT_CONTAINS(dataset_error("1,x\n2,3\n", {}), "line 1, column 2: 'x' is not a number");
  const Table table("1,2\n3,4\n");
  TEST_ASSERT_EQUAL_size_t(2, read_csv_dataset("t", table.path, {})->size());
  TEST_ASSERT_EQUAL_size_t(1, read_csv_dataset("t", table.path, {.header = CsvHeader::kPresent})->size());
  ASSERT_CONTAINS(dataset_error("a,b\n3,4\n", {.header = CsvHeader::kAbsent}), "line 1, column 1: 'a'");
}

TEST("Values that are not finite, do not fit or are not numbers are refused where they stand") {
  for (const char* bad : {"nan", "inf", "-inf", "1e99", "", "12x", "0x10", "--1"}) {
    const std::string message = dataset_error(std::string("1,2\n3,4\n") + bad + ",5\n", {});
    ASSERT_CONTAINS(message, "line 3, column 1: '" + std::string(bad) + "'");
  }
  ASSERT_CONTAINS(dataset_error("1,nan\n", {}), "line 1, column 2: 'nan' is not finite");
}

TEST("Labels start where the options say and end with the last class") {
  const CsvOptions options{.classes = 2, .first_label = 1};
  TEST_ASSERT_TRUE((read_csv_dataset("t", Table("5,1\n6,2.0\n").path, options)->labels ==
                    std::vector<std::int64_t>{0, 1}));
  ASSERT_CONTAINS(dataset_error("5,0\n", options), "line 1, column 2: label: '0' is outside 1 to 2");
  ASSERT_CONTAINS(dataset_error("5,3\n", options), "'3' is outside 1 to 2");
  ASSERT_CONTAINS(dataset_error("5,1.5\n", options), "'1.5' is not a whole number");
  ASSERT_CONTAINS(dataset_error("5,nan\n", options), "'nan' is not a whole number");
}

TEST("Pixels are kept as bytes and must be 0 to 255") {
  const CsvOptions options{.classes = 1, .pixels = true, .sample_shape = {1, 1, 2}};
  const auto data = read_csv_dataset("t", Table("0,255,0\n").path, options);
  ASSERT_OK(data);
  TEST_ASSERT_TRUE(
      (std::get<std::vector<std::uint8_t>>(data->features) == std::vector<std::uint8_t>{0, 255}));
  TEST_ASSERT_TRUE((data->sample_shape == std::vector<std::size_t>{1, 1, 2}));
  ASSERT_CONTAINS(dataset_error("0,256,0\n", options), "line 1, column 2: '256' is outside 0 to 255");
  ASSERT_CONTAINS(dataset_error("-1,2,0\n", options), "'-1' is outside 0 to 255");
  ASSERT_CONTAINS(dataset_error("1,2,3,0\n", options), "3 features, shape [1, 1, 2] needs 2");
}

TEST("Rows of another width, empty tables and headers without rows are refused") {
  ASSERT_CONTAINS(dataset_error("1,2\n3\n", {}), "line 2: 1 columns, expected 2");
  ASSERT_CONTAINS(dataset_error("1,2\n3,4,5\n", {}), "line 2: 3 columns, expected 2");
  ASSERT_CONTAINS(dataset_error("", {}), "the table is empty");
  ASSERT_CONTAINS(dataset_error("a,b\n", {}), "a header and no rows");
  ASSERT_CONTAINS(dataset_error("1;2\n", {}), "one column");
  const testing::TemporaryFolder folder;
  TEST_ASSERT_TRUE(read_csv_dataset("t", folder / "none", {}).error().kind == ErrorKind::kNotFound);
}

TEST("One above each limit is refused and the limit itself is not") {
  const std::string text = "11,2\n33,4\n";
  ASSERT_OK(read_csv_dataset("t", Table(text).path, {.limits = {.line_bytes = 4, .columns = 2, .rows = 2}}));
  ASSERT_CONTAINS(dataset_error(text, {.limits = {.line_bytes = 3}}), "line 1: longer than 3 bytes");
  ASSERT_CONTAINS(dataset_error(text, {.limits = {.columns = 1}}), "line 1: more than 1 columns");
  ASSERT_CONTAINS(dataset_error(text, {.limits = {.rows = 1}}), "line 2: more than 1 rows");
}

TEST("A line without end is refused without reading it all") {
  ASSERT_CONTAINS(dataset_error(std::string(300000, '1'), {.limits = {.line_bytes = 1000}}),
                  "longer than 1000 bytes");
}
