#include "core/identity_openssl/openssl_signer.h"
#include "core/system/atomic_file.h"
#include "gateway_server/intake/live_registry.h"
#include "tests/gateway_server/intake/book_on_disk.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

TEST("Devices that are added or revoked in the book are known or refused after the next look") {
  BookOnDisk book;
  book.add("pi-1");
  const auto registry = LiveRegistry::open(book.path(), book.clock, book.log).value();
  TEST_ASSERT_EQUAL_UINT64(1, registry->enrolled());
  TEST_ASSERT_EQUAL_STRING("pi-1", registry->find(book.key_of("pi-1"))->owner.c_str());
  book.add("pi-2");
  (void)registry->refresh();
  TEST_ASSERT_FALSE(registry->find(book.key_of("pi-2"))->revoked);
  book.revoke("pi-1");
  (void)registry->refresh();
  TEST_ASSERT_TRUE(registry->find(book.key_of("pi-1"))->revoked);
  TEST_ASSERT_EQUAL_UINT64(1, registry->enrolled());
  const std::size_t said = book.log.lines().size();
  TEST_ASSERT_FALSE(registry->refresh().has_value());
  TEST_ASSERT_EQUAL_UINT64(said, book.log.lines().size());
}

TEST("A look at the book lists what has changed, and says when it is another book") {
  BookOnDisk book;
  book.add("pi-1");
  const auto registry = LiveRegistry::open(book.path(), book.clock, book.log).value();
  TEST_ASSERT_FALSE(registry->refresh().has_value());
  TEST_ASSERT_TRUE(registry->is_enrolled("pi-1"));
  book.add("pi-2");
  book.revoke("pi-1");
  auto news = registry->refresh();
  TEST_ASSERT_FALSE(news->everything);
  TEST_ASSERT_EQUAL_UINT64(2, news->devices.size());
  TEST_ASSERT_EQUAL_STRING("pi-2", news->devices[0].device.c_str());
  TEST_ASSERT_FALSE(news->devices[0].revoked);
  TEST_ASSERT_EQUAL_STRING("pi-1", news->devices[1].device.c_str());
  TEST_ASSERT_TRUE(news->devices[1].revoked);
  TEST_ASSERT_FALSE(registry->is_enrolled("pi-1"));
  TEST_ASSERT_TRUE(registry->enrolled_names() == LiveRegistry::Names({"pi-2"}));

  BookOnDisk other;
  other.add("pi-3");
  std::filesystem::rename(other.path(), book.path());
  TEST_ASSERT_TRUE(registry->refresh()->everything);
  TEST_ASSERT_FALSE(registry->is_enrolled("pi-2"));
  TEST_ASSERT_TRUE(registry->is_enrolled("pi-3"));
}

TEST("While the book is damaged or gone the old one stays in force, which is said once") {
  BookOnDisk book;
  book.add("pi-1");
  book.add("pi-2");
  book.revoke("pi-2");
  const KeyId first = book.key_of("pi-1");
  const KeyId second = book.key_of("pi-2");
  const auto registry = LiveRegistry::open(book.path(), book.clock, book.log).value();
  ASSERT_OK(write_file_atomically(book.path(), std::string(5000, 'x')));
  for (int i = 0; i < 3; ++i) (void)registry->refresh();
  std::filesystem::remove(book.path());
  for (int i = 0; i < 3; ++i) (void)registry->refresh();
  const auto lines = book.log.lines();
  TEST_ASSERT_EQUAL_UINT64(2, lines.size());  // damaged, then gone
  ASSERT_CONTAINS(lines[0], "the device book stays as it was");
  ASSERT_CONTAINS(lines[0], "devices.db");
  TEST_ASSERT_FALSE(registry->find(first)->revoked);
  TEST_ASSERT_TRUE(registry->find(second)->revoked);
  ASSERT_OK(DeviceBook::create(book.path()));
  book.add("pi-1");
  TEST_ASSERT_TRUE(registry->refresh()->everything);
  TEST_ASSERT_FALSE(registry->find(book.key_of("pi-1"))->revoked);
}

TEST("A book that cannot be read at the start stops the start, with its name") {
  BookOnDisk book;
  std::filesystem::remove(book.path());
  ASSERT_CONTAINS(message_of(LiveRegistry::open(book.path(), book.clock, book.log)), "devices.db");
}

TEST("A key is expired when its certificate has ended, and only then, whatever the clock did before") {
  BookOnDisk book;
  book.add("pi-1");
  const auto registry = LiveRegistry::open(book.path(), book.clock, book.log).value();
  const auto now = book.clock.wall();
  const auto expired_at = [&](std::chrono::hours from_now) {
    book.clock.set(now + from_now);
    return registry->find(book.key_of("pi-1"))->expired;
  };
  TEST_ASSERT_FALSE(expired_at(std::chrono::hours(0)));
  TEST_ASSERT_TRUE(expired_at(std::chrono::hours(25)));
  TEST_ASSERT_FALSE(expired_at(std::chrono::hours(-24 * 365 * 50)));
  TEST_ASSERT_FALSE(expired_at(std::chrono::hours(23)));
}
