#include "core/book/device_book.h"
#include "core/book/json_device_book.h"
#include "core/sqlite/sqlite_database.h"
#include "core/system/atomic_file.h"
#include "tests/core/book/book_samples.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

/// A book with pi-1 and pi-2.
struct Shelf {
  TemporaryFolder folder;
  fs::path path = folder / "devices.db";

  Shelf() {
    ASSERT_OK(DeviceBook::create(path));
    const std::vector<Device> devices = {sample_device("pi-1", 1), sample_device("pi-2", 2)};
    ASSERT_OK(open().add(devices));
  }
  [[nodiscard]] DeviceBook open() const { return DeviceBook::open(path).value(); }
  /// What another program might do to the file.
  void run(const std::string& sql) const {
    auto database = SqliteDatabase::open(path, SqliteDatabase::Access::kReadWrite).value();
    ASSERT_OK(database.run(sql));
  }
};

std::vector<Device> all(DeviceBook& book) {
  std::vector<Device> devices;
  ASSERT_OK(book.each([&](const Device& device) -> Status {
    devices.push_back(device);
    return {};
  }));
  return devices;
}

}  // namespace

TEST("A device book gives back what was put into it, also after it was opened again") {
  const Shelf shelf;
  {
    DeviceBook book = shelf.open();
    const std::vector<DeviceKey> two = {sample_key(1), sample_key(3)};
    ASSERT_OK(book.set_keys("pi-1", two));
    ASSERT_OK(book.revoke("pi-2"));
  }
  DeviceBook book = shelf.open();
  std::vector<Device> expected = {sample_device("pi-1", 1), sample_device("pi-2", 2)};
  expected[0].keys.push_back(sample_key(3));
  expected[1].revoked = true;
  TEST_ASSERT_TRUE(all(book) == expected);
  TEST_ASSERT_TRUE(book.find("pi-1").value() == expected[0]);
  TEST_ASSERT_FALSE(book.find("pi-3").value().has_value());
  TEST_ASSERT_EQUAL_STRING("pi-1",
                           book.find_key(key_id_of(sample_key(3).public_key)).value()->device.c_str());
  TEST_ASSERT_TRUE(book.find_key(key_id_of(sample_key(2).public_key)).value()->revoked);
  TEST_ASSERT_FALSE(book.find_key(key_id_of(sample_key(4).public_key)).value().has_value());
  TEST_ASSERT_TRUE(book.is_active("pi-1").value());
  TEST_ASSERT_FALSE(book.is_active("pi-2").value());
  const auto state = book.state().value();
  TEST_ASSERT_EQUAL_UINT64(2, state.devices);
  TEST_ASSERT_EQUAL_UINT64(1, state.active);
  ASSERT_OK(book.check_content());
}

TEST("What has changed since a revision is listed in order, or not at all when it is too much") {
  const Shelf shelf;
  DeviceBook book = shelf.open();
  const auto before = book.state().value();
  TEST_ASSERT_TRUE(book.changed_since(before.revision, 10).value()->empty());
  const Device third = sample_device("pi-3", 3);
  ASSERT_OK(book.add({&third, 1}));
  ASSERT_OK(book.revoke("pi-1"));
  TEST_ASSERT_EQUAL_UINT64(before.revision + 2, book.state()->revision);
  const auto changes = book.changed_since(before.revision, 2).value();
  TEST_ASSERT_EQUAL_size_t(2, changes->size());
  TEST_ASSERT_EQUAL_STRING("pi-3", changes->at(0).device.c_str());
  TEST_ASSERT_FALSE(changes->at(0).revoked);
  TEST_ASSERT_TRUE(changes->at(1).revoked);
  TEST_ASSERT_FALSE(book.changed_since(before.revision, 1).value().has_value());
}

TEST("A device or key that is there already, or has no key, is refused, and nothing of its list stays") {
  const Shelf shelf;
  DeviceBook book = shelf.open();
  const auto before = book.state().value();
  const auto refused = [&](const Device& wrong) {
    const std::vector<Device> devices = {sample_device("pi-8", 8), wrong};
    return message_of(book.add(devices));
  };
  ASSERT_CONTAINS(refused(sample_device("pi-1", 9)), "'pi-1' is there twice");
  ASSERT_CONTAINS(refused(sample_device("pi-8", 9)), "'pi-8' is there twice");
  ASSERT_CONTAINS(refused(sample_device("pi-9", 1)), "belongs to device 'pi-1'");
  ASSERT_CONTAINS(refused(sample_device("pi-9", 8)), "belongs to device 'pi-8'");
  ASSERT_CONTAINS(refused(sample_device("gateway", 9)), "the fleet's own");
  Device wrong = sample_device("pi-9", 9);
  wrong.keys[0].serial = "0A";
  ASSERT_CONTAINS(refused(wrong), "serial");
  wrong.keys.clear();
  ASSERT_CONTAINS(refused(wrong), "has 0 keys");
  for (std::uint8_t i = 0; i <= kMaxKeysPerDevice; ++i) wrong.keys.push_back(sample_key(20 + i));
  ASSERT_CONTAINS(refused(wrong), "has 17 keys");
  wrong.keys = {sample_key(9), sample_key(9)};
  ASSERT_CONTAINS(refused(wrong), "one key twice");
  const DeviceKey foreign = sample_key(2);
  ASSERT_CONTAINS(message_of(book.set_keys("pi-1", {&foreign, 1})), "belongs to device 'pi-2'");
  TEST_ASSERT_TRUE(book.state().value() == before);
  TEST_ASSERT_TRUE(all(book) == std::vector<Device>({sample_device("pi-1", 1), sample_device("pi-2", 2)}));
}

TEST("A reader sees what a writer changes, and that another file took the book's place") {
  const Shelf shelf;
  DeviceBook reader = DeviceBook::open_to_read(shelf.path).value();
  ASSERT_OK(shelf.open().revoke("pi-1"));
  TEST_ASSERT_FALSE(reader.is_active("pi-1").value());
  TEST_ASSERT_TRUE(reader.is_current());
  fs::copy_file(shelf.path, shelf.folder / "backup");
  fs::rename(shelf.folder / "backup", shelf.path);
  TEST_ASSERT_FALSE(reader.is_current());
}

TEST("A JSON book is imported once; a reader that may not write reads it all the same") {
  TemporaryFolder folder;
  const auto json = folder / "devices.json";
  ASSERT_OK(write_file_atomically(
      json, sample_json_book(sample_json("pi-1", 1) + "," + sample_json("pi-2", 2, /*revoked=*/true))));
  DeviceBook reader = DeviceBook::open_to_read(json).value();
  TEST_ASSERT_FALSE(fs::exists(folder / "devices.db"));
  const std::vector<Device> expected = all(reader);
  TEST_ASSERT_TRUE(expected == read_json_device_book(json).value());
  TEST_ASSERT_TRUE(reader.is_current());

  ASSERT_OK(write_file_atomically(folder / "devices.db.import", "what a killed import left"));
  DeviceBook book = DeviceBook::open(json).value();
  TEST_ASSERT_TRUE(all(book) == expected);
  TEST_ASSERT_FALSE(reader.is_current());
  TEST_ASSERT_FALSE(fs::exists(json));
  TEST_ASSERT_TRUE(fs::exists(folder / "devices.json.imported"));
  TEST_ASSERT_FALSE(fs::exists(folder / "devices.db.import"));
  TEST_ASSERT_TRUE(fs::status(folder / "devices.db").permissions() ==
                   fs::status(folder / "devices.json.imported").permissions());
  reader = DeviceBook::open_to_read(json).value();
  ASSERT_OK(book.revoke("pi-1"));
  TEST_ASSERT_TRUE(all(reader) == all(book));
}

TEST("A JSON book with damage is not imported, and stays as it is") {
  TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "devices.json", "{"));
  ASSERT_CONTAINS(message_of(DeviceBook::open(folder / "devices.db")), "devices.json is not a device book");
  TEST_ASSERT_TRUE(fs::exists(folder / "devices.json"));
  TEST_ASSERT_FALSE(fs::exists(folder / "devices.db"));
  ASSERT_CONTAINS(message_of(DeviceBook::open(folder / "other.db")), "there is no device book");
}

TEST("What a writer that was killed in the middle of a change left is taken back, by readers in a copy") {
  const Shelf shelf;
  // The files as they are when more has been changed than fits into the cache.
  {
    auto database = SqliteDatabase::open(shelf.path, SqliteDatabase::Access::kReadWrite).value();
    ASSERT_OK(database.run(
        "PRAGMA cache_size = 1; BEGIN; UPDATE devices SET name = 'other-' || id; CREATE TABLE more (x); "
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO more "
        "SELECT randomblob(200) FROM n"));
    fs::create_directory(shelf.folder / "killed");
    fs::copy_file(shelf.path, shelf.folder / "killed/devices.db");
    fs::copy_file(shelf.path.string() + "-journal", shelf.folder / "killed/devices.db-journal");
  }
  const fs::path path = shelf.folder / "killed/devices.db";
  const auto left = fs::file_size(path);
  const auto is_whole = [](DeviceBook& book) {
    return all(book) == std::vector<Device>({sample_device("pi-1", 1), sample_device("pi-2", 2)});
  };
  DeviceBook reader = DeviceBook::open_to_read(path).value();
  TEST_ASSERT_TRUE(is_whole(reader));
  TEST_ASSERT_TRUE(reader.is_current());
  TEST_ASSERT_EQUAL_UINT64(left, fs::file_size(path));
  DeviceBook writer = DeviceBook::open(path).value();
  TEST_ASSERT_TRUE(is_whole(writer));
  TEST_ASSERT_FALSE(reader.is_current());
  reader = DeviceBook::open_to_read(path).value();
  TEST_ASSERT_TRUE(is_whole(reader));
}

TEST("A row that something else changed is never believed, and a check of the book finds it") {
  const auto damaged = [](const std::string& sql) {
    const Shelf shelf;
    shelf.run(sql);
    DeviceBook book = shelf.open();
    TEST_ASSERT_TRUE_MESSAGE(book.check_content().error().kind == ErrorKind::kCorrupt, sql.c_str());
    return message_of(book.find("pi-1")) + message_of(book.is_active("pi-1")) +
           message_of(book.find_key(key_id_of(sample_key(1).public_key)));
  };
  ASSERT_CONTAINS(damaged("UPDATE devices SET revoked = 1"), "the row of device 'pi-1' has changed");
  ASSERT_CONTAINS(damaged("UPDATE devices SET revoked = 1"), "devices.db: ");
  ASSERT_CONTAINS(damaged("UPDATE keys SET not_after = 0"), "has changed");
  ASSERT_CONTAINS(damaged("UPDATE keys SET public_key = x'04'"), "has changed");
  (void)damaged("UPDATE book SET active = 1");
  (void)damaged("DELETE FROM keys WHERE device = 1");
}

TEST("A file that is not a device book is refused with its path and what to do") {
  const Shelf shelf;
  ASSERT_OK(write_file_atomically(shelf.path, std::string(5000, 'x')));
  ASSERT_CONTAINS(message_of(DeviceBook::open_to_read(shelf.path)),
                  shelf.path.string() + " is not a device book");
  ASSERT_CONTAINS(message_of(DeviceBook::open(shelf.path)), "restore it from a backup");
  fs::remove(shelf.path);
  shelf.run("CREATE TABLE other (x)");
  ASSERT_CONTAINS(message_of(DeviceBook::open(shelf.path)), "is not a device book");
  const Shelf newer;
  newer.run("PRAGMA user_version = 99");
  ASSERT_CONTAINS(message_of(DeviceBook::open(newer.path)), "a newer program");
  TEST_ASSERT_FALSE(DeviceBook::create(newer.path).ok());
}
