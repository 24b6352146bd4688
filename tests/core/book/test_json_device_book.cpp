#include "core/book/json_device_book.h"
#include "core/system/atomic_file.h"
#include "tests/core/book/book_samples.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

/// Why a book is refused in which one piece of text is another.
std::string refusal(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  std::string text = sample_json_book(sample_json("pi-1", 1) + "," + sample_json("pi-2", 2));
  const auto at = text.find(from);
  TEST_ASSERT_TRUE_MESSAGE(at != std::string::npos, from.c_str());
  text.replace(at, from.size(), to);
  ASSERT_OK(write_file_atomically(path, text));
  return message_of(read_json_device_book(path));
}

}  // namespace

TEST("A JSON book of an older version is read") {
  TemporaryFolder folder;
  const auto path = folder / "devices.json";
  ASSERT_OK(write_file_atomically(
      path, sample_json_book(sample_json("pi-1", 1) + "," + sample_json("pi-2", 2, /*revoked=*/true))));
  std::vector<Device> expected = {sample_device("pi-1", 1), sample_device("pi-2", 2)};
  expected[1].revoked = true;
  TEST_ASSERT_TRUE(read_json_device_book(path).value() == expected);
  ASSERT_OK(write_file_atomically(path, sample_json_book("")));
  TEST_ASSERT_TRUE(read_json_device_book(path).value().empty());
  TEST_ASSERT_TRUE(read_json_device_book(folder / "other.json").error().kind == ErrorKind::kNotFound);
}

TEST("Damage in a JSON book is named together with its path") {
  TemporaryFolder folder;
  const auto path = folder / "devices.json";
  ASSERT_CONTAINS(refusal(path, "book-1", "book-2"), path.string());
  ASSERT_CONTAINS(refusal(path, "book-1", "book-2"), "schema");
  ASSERT_CONTAINS(refusal(path, "\"0401", "\"0501"), "public key");
  ASSERT_CONTAINS(refusal(path, "\"0401", "\"04 1"), "public key");
  ASSERT_CONTAINS(refusal(path, "0a1", "0A1"), "serial");
  ASSERT_CONTAINS(refusal(path, "2027-01", "2027-13"), "not a time");
  ASSERT_CONTAINS(refusal(path, "false", "0"), "boolean");
  ASSERT_CONTAINS(refusal(path, "\"enrolled\"", "\"enroled\""), "enrolled");
  ASSERT_CONTAINS(refusal(path, "}", ""), "not a JSON object");
  ASSERT_CONTAINS(refusal(path, "pi-1", "../1"), "is not a name");
  ASSERT_CONTAINS(refusal(path, "pi-1", "gateway"), "the fleet's own");
  ASSERT_CONTAINS(refusal(path, "pi-2", "pi-1"), "'pi-1' is there twice");
  ASSERT_CONTAINS(refusal(path, to_hex(sample_key(2).public_key), to_hex(sample_key(1).public_key)),
                  "a key that is there twice");
}
