#include "core/base/rfc3339.h"
#include "core/identity/device_book.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

DeviceKey key(std::uint8_t number) {
  DeviceKey made{.public_key = {}, .serial = "0a" + std::to_string(number), .not_after = {}};
  made.public_key.fill(number);
  made.public_key[0] = 4;
  made.not_after = parse_rfc3339("2027-01-02T03:04:05Z").value();
  return made;
}

Device device(const std::string& name, std::uint8_t number) {
  return {name, {key(number)}, false, parse_rfc3339("2026-01-02T03:04:05Z").value()};
}

/// The book as it is written, with one piece of text replaced.
std::string damaged(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  ASSERT_OK(write_device_book(path, {{device("pi-1", 1), device("pi-2", 2)}}));
  std::string text = read_text_file(path).value();
  const auto at = text.find(from);
  TEST_ASSERT_TRUE_MESSAGE(at != std::string::npos, from.c_str());
  text.replace(at, from.size(), to);
  ASSERT_OK(write_file_atomically(path, text));
  const auto book = read_device_book(path);
  TEST_ASSERT_FALSE_MESSAGE(book.ok(), to.c_str());
  return book.error().message;
}

}  // namespace

TEST("A device book is read back as it was written") {
  testing::TemporaryFolder folder;
  DeviceBook book{{device("pi-1", 1), device("pi-2", 2)}};
  book.devices[0].keys.push_back(key(3));
  book.devices[1].revoked = true;
  ASSERT_OK(write_device_book(folder / "devices.json", book));
  const auto read = read_device_book(folder / "devices.json");
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read == book);
  TEST_ASSERT_EQUAL_PTR(&read->devices[1], read->find("pi-2"));
  TEST_ASSERT_NULL(read->find("pi-3"));
}

TEST("An empty book is a book, a missing file is none") {
  testing::TemporaryFolder folder;
  ASSERT_OK(write_device_book(folder / "devices.json", {}));
  TEST_ASSERT_EQUAL_size_t(0, read_device_book(folder / "devices.json").value().devices.size());
  TEST_ASSERT_TRUE(read_device_book(folder / "other.json").error().kind == ErrorKind::kNotFound);
}

TEST("A book that names a device or a key twice is refused, read or written") {
  testing::TemporaryFolder folder;
  const auto path = folder / "devices.json";
  ASSERT_CONTAINS(testing::message_of(write_device_book(path, {{device("a", 1), device("a", 2)}})),
                  "'a' is there twice");
  ASSERT_CONTAINS(testing::message_of(write_device_book(path, {{device("a", 1), device("b", 1)}})),
                  "has a key that is there twice");
  TEST_ASSERT_FALSE(std::filesystem::exists(path));
  ASSERT_CONTAINS(damaged(path, "pi-2", "pi-1"), "'pi-1' is there twice");
}

TEST("Damage in a book is named together with its path") {
  testing::TemporaryFolder folder;
  const auto path = folder / "devices.json";
  ASSERT_CONTAINS(damaged(path, "book-1", "book-2"), path.string());
  ASSERT_CONTAINS(damaged(path, "book-1", "book-2"), "schema");
  ASSERT_CONTAINS(damaged(path, "\"0401", "\"0501"), "public key");
  ASSERT_CONTAINS(damaged(path, "\"0401", "\"04 1"), "public key");
  ASSERT_CONTAINS(damaged(path, "0a1", "0A1"), "serial");
  ASSERT_CONTAINS(damaged(path, "2027-01", "2027-13"), "not a time");
  ASSERT_CONTAINS(damaged(path, "false", "0"), "boolean");
  ASSERT_CONTAINS(damaged(path, "\"enrolled\"", "\"enroled\""), "enrolled");
  ASSERT_CONTAINS(damaged(path, "}", ""), "not a JSON object");
  ASSERT_CONTAINS(damaged(path, "pi-1", "../1"), "is not a name");
  ASSERT_CONTAINS(damaged(path, "pi-1", "gateway"), "the fleet's own");
}

TEST("A device has one key at least and sixteen at most") {
  testing::TemporaryFolder folder;
  Device none = device("a", 1);
  none.keys.clear();
  ASSERT_CONTAINS(testing::message_of(write_device_book(folder / "b", {{none}})), "has 0 keys");
  Device many = device("a", 1);
  for (std::uint8_t i = 2; i <= kMaxKeysPerDevice; ++i) many.keys.push_back(key(i));
  ASSERT_OK(write_device_book(folder / "b", {{many}}));
  many.keys.push_back(key(17));
  ASSERT_CONTAINS(testing::message_of(write_device_book(folder / "b", {{many}})), "has 17 keys");
}
