#include "core/learning/data/csv_cells.h"
#include "core/learning/data/csv_delimiter.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;

TEST("What tables write for no value is known, and numbers and words are not it") {
  for (const char* cell : {"", "  ", "NA", "n/a", "NaN", "NULL", "None", "-", "?", " nan "}) {
    TEST_ASSERT_TRUE_MESSAGE(is_missing_cell(cell), cell);
  }
  for (const char* cell : {"0", "-1", "idle", "nano", "--", "n.a."}) {
    TEST_ASSERT_FALSE_MESSAGE(is_missing_cell(cell), cell);
  }
}

TEST("Dates and times are told from numbers and words") {
  for (const char* cell :
       {"2026-11-18", "2026-11-18T07:30:00Z", "2026-11-18 07:30:00.123456+01:00", "18.11.2026",
        "18.11.26 7:30", "11/18/2026 07:30 PM", "2026/1/2", "07:30:15", "7:30"}) {
    TEST_ASSERT_TRUE_MESSAGE(is_time_cell(cell), cell);
  }
  for (const char* cell : {"", "20261118", "1.5", "1,5", "-3", "1e5", "idle", "1-2", "12.5.", "1.2.3.4",
                           "7:3", "2026-11-18Tx", "07:30:15:20"}) {
    TEST_ASSERT_FALSE_MESSAGE(is_time_cell(cell), cell);
  }
}

TEST("The first decimal mark decides for the table, and another one is refused with what to do") {
  CsvNumbers german(DecimalMark::kDetect, ';');
  TEST_ASSERT_EQUAL_FLOAT(3, *german.read("3"));
  TEST_ASSERT_EQUAL_FLOAT(-2.5F, *german.read("-2,5"));
  TEST_ASSERT_EQUAL_FLOAT(1250, *german.read("1,25e3"));
  ASSERT_CONTAINS(message_of(german.read("2.5")),
                  "'2.5' has a decimal point, and numbers of this table have a "
                  "decimal comma; the key decimal");
  CsvNumbers english(DecimalMark::kDetect, ';');
  TEST_ASSERT_EQUAL_FLOAT(2.5F, *english.read("2.5"));
  ASSERT_CONTAINS(message_of(english.read("2,5")), "has a decimal comma");
}

TEST(
    "A comma inside a field of a table that is separated by commas is not a decimal mark unless it is told "
    "so") {
  CsvNumbers detect(DecimalMark::kDetect, ',');
  ASSERT_CONTAINS(message_of(detect.read("1,234")), "decimal comma");
  CsvNumbers told(DecimalMark::kComma, ',');
  TEST_ASSERT_EQUAL_FLOAT(1.234F, *told.read("1,234"));
}

TEST("What is not a number is named as it is written") {
  CsvNumbers numbers(DecimalMark::kDetect, ';');
  for (const char* cell : {"1.234,5", "1,2,3", "x,5", "1,", "12,5x"}) {
    const std::string message = message_of(numbers.read(cell));
    if (std::string(cell) != "1,") ASSERT_CONTAINS(message, "'" + std::string(cell) + "'");
  }
  const std::string sixty_five = "1," + std::string(63, '0');
  TEST_ASSERT_FALSE(numbers.read(sixty_five).ok());
}

TEST("The delimiter is what gives all lines the same columns") {
  TEST_ASSERT_EQUAL_CHAR(';',
                         find_delimiter("time;temp, C;label\n18.11.2026;5,1;idle\n18.11.2026;4,9;run\n"));
  TEST_ASSERT_EQUAL_CHAR('\t', find_delimiter("a\tb\n1,5\t2\n"));
  TEST_ASSERT_EQUAL_CHAR('|', find_delimiter("a|b|c\n1|2|3\n"));
  TEST_ASSERT_EQUAL_CHAR(',', find_delimiter("a,b\n1,2\n"));
  TEST_ASSERT_EQUAL_CHAR(' ', find_delimiter("1  2 3\n4 5   6\n"));
  TEST_ASSERT_EQUAL_CHAR(',', find_delimiter("\"a;b\",2\n\"c;d\",3\n"));
  TEST_ASSERT_EQUAL_CHAR(',', find_delimiter("one\ntwo\n"));
  TEST_ASSERT_EQUAL_CHAR(',', find_delimiter(""));
}

TEST("One damaged line in five does not change the delimiter, and what is cut off does not count") {
  TEST_ASSERT_EQUAL_CHAR(';', find_delimiter("a;b\n1;2\n1;2\n1;2\nbroken\n"));
  TEST_ASSERT_EQUAL_CHAR(';', find_delimiter("a;b\n1;"));
}
