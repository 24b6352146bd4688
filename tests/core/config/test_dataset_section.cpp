#include "core/config/dataset_section.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

struct Reading {
  DatasetFiles files;
  Status status;
};

Reading reading(const std::string& keys) {
  auto file = ConfigFile::parse("[data]\n" + keys, "dir/client.toml");
  ASSERT_OK(file);
  auto section = file->table("data");
  DatasetFiles files = read_dataset_files(section);
  return {files, file->finish()};
}

}  // namespace

TEST("Each format has its own keys, with paths beside the file") {
  const Reading idx = reading("format = \"idx\"\nimages = \"a\"\nlabels = \"b\"\nfirst = 10\ncount = 5\n");
  ASSERT_OK(idx.status);
  TEST_ASSERT_TRUE(idx.files ==
                   (DatasetFiles{DatasetFormat::kIdx, "dir/a", "dir/b", CsvHeader::kDetect, "", {10, 5}}));
  const Reading npy = reading("format = \"npy\"\nfeatures = \"/x\"\nlabels = \"y\"\n");
  ASSERT_OK(npy.status);
  TEST_ASSERT_TRUE(npy.files ==
                   (DatasetFiles{DatasetFormat::kNpy, "/x", "dir/y", CsvHeader::kDetect, "", {}}));
  const Reading csv = reading("format = \"csv\"\nfile = \"t.csv\"\nheader = false\nlabel_column = 3\n");
  ASSERT_OK(csv.status);
  TEST_ASSERT_TRUE(csv.files ==
                   (DatasetFiles{DatasetFormat::kCsv, "dir/t.csv", "", CsvHeader::kAbsent, "3", {}}));
}

TEST("The label is in the last column unless a name or a number says otherwise") {
  const std::string table = "format = \"csv\"\nfile = \"t\"\n";
  TEST_ASSERT_EQUAL_STRING("", reading(table).files.label_column.c_str());
  TEST_ASSERT_EQUAL_STRING("", reading(table + "label_column = \"last\"").files.label_column.c_str());
  TEST_ASSERT_EQUAL_STRING("kind", reading(table + "label_column = \"kind\"").files.label_column.c_str());
  TEST_ASSERT_TRUE(reading(table).files.header == CsvHeader::kDetect);
  TEST_ASSERT_TRUE(reading(table + "header = true").files.header == CsvHeader::kPresent);
}

TEST("A key of another format is refused with the format that it goes with") {
  TEST_ASSERT_EQUAL_STRING(
      "dir/client.toml:5: [data] file goes with format = \"csv\", and format is \"idx\"",
      message_of(reading("format = \"idx\"\nimages = \"a\"\nlabels = \"b\"\nfile = \"c\"\n").status).c_str());
  ASSERT_CONTAINS(message_of(reading("format = \"csv\"\nfile = \"a\"\nlabels = \"b\"\n").status),
                  "labels goes with format = \"idx\"");
}

TEST("A missing format, a missing file and a negative range are refused") {
  ASSERT_CONTAINS(message_of(reading("").status), "[data] format is missing");
  ASSERT_CONTAINS(message_of(reading("format = \"npy\"\nlabels = \"y\"\n").status), "features is missing");
  ASSERT_CONTAINS(message_of(reading("format = \"csv\"\nfile = \"t\"\nfirst = -1\n").status), "first is -1");
  ASSERT_CONTAINS(message_of(reading("format = \"csv\"\nfile = \"t\"\ncount = 0\n").status), "count is 0");
}

TEST(
    "A table's delimiter, columns, missing cells and decimal mark are keys, found out or strict by default") {
  const std::string table = "format = \"csv\"\nfile = \"t\"\n";
  const Reading plain = reading(table);
  TEST_ASSERT_EQUAL_CHAR(kFindDelimiter, plain.files.delimiter);
  TEST_ASSERT_TRUE(plain.files.missing == MissingCells::kRefuse);
  const Reading told = reading(
      table + "delimiter = \"tab\"\nignore = [\"time\", 7]\nmissing = \"mean\"\ndecimal = \"comma\"\n");
  ASSERT_OK(told.status);
  TEST_ASSERT_EQUAL_CHAR('\t', told.files.delimiter);
  TEST_ASSERT_TRUE((told.files.ignore == std::vector<std::string>{"time", "7"}));
  TEST_ASSERT_TRUE(told.files.missing == MissingCells::kMean);
  TEST_ASSERT_TRUE(told.files.decimal == DecimalMark::kComma);
  TEST_ASSERT_TRUE(
      (reading(table + "columns = [2, \"a\"]\n").files.columns == std::vector<std::string>{"2", "a"}));
  ASSERT_CONTAINS(message_of(reading(table + "columns = [1]\nignore = [2]\n").status),
                  "ignore does not go with columns");
  ASSERT_CONTAINS(message_of(reading(table + "delimiter = \";;\"\n").status), "must be one letter");
  ASSERT_CONTAINS(message_of(reading(table + "missing = \"drop\"\n").status), "missing");
  ASSERT_CONTAINS(message_of(reading(table + "ignore = [1.5]\n").status), "list of names or numbers");
  ASSERT_CONTAINS(message_of(reading(table + "labels = \"a\"\n").status), "aflguard model build --labels");
  ASSERT_CONTAINS(
      message_of(reading("format = \"npy\"\nfeatures = \"x\"\nlabels = \"y\"\nmissing = \"skip\"\n").status),
      "missing goes with format = \"csv\"");
}
