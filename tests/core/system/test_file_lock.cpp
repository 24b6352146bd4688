#include <array>
#include <csignal>
#include <optional>

#include "core/system/atomic_file.h"
#include "core/system/file_lock.h"
#include "core/system/folder_lock.h"
#include "core/system/process.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace std::chrono_literals;

namespace {

constexpr auto kLockWait = 60s;

/// Another program that holds the lock on a file: util-linux's, which knows nothing of ours.
class Holder final {
 public:
  explicit Holder(const std::filesystem::path& file) : process_(start(file)) {}
  Process& process() { return process_; }

 private:
  static Process start(const std::filesystem::path& file) {
    auto pipe = make_pipe();
    ASSERT_OK(pipe);
    auto process = Process::start(
        {.arguments = {"flock", "--no-fork", file.string(), "sh", "-c", "echo held; exec sleep 600"},
         .output = pipe->write_end.get(),
         .ends_with_us = true});
    ASSERT_OK(process);
    pipe->write_end.close();
    std::array<std::byte, 5> held{};
    TEST_ASSERT_TRUE(read_exactly(pipe->read_end.get(), held));
    return std::move(*process);
  }
  Process process_;
};

}  // namespace

TEST("A file that another process holds is not to be had, until that process is killed") {
  const testing::TemporaryFolder folder;
  Holder holder(folder / "lock");
  const auto refused = FileLock::take(folder / "lock");
  TEST_ASSERT_FALSE(refused.ok());
  TEST_ASSERT_TRUE(refused.error().kind == ErrorKind::kUnavailable);
  ASSERT_CONTAINS(refused.error().message, "in use by another process");
  holder.process().kill();
  ASSERT_OK(FileLock::take(folder / "lock"));
}

TEST("A file that we hold is not to be had by another process, until we let go") {
  const testing::TemporaryFolder folder;
  const auto others_get_it = [&] {
    auto other = Process::start({.arguments = {"flock", "-n", (folder / "lock").string(), "true"}});
    ASSERT_OK(other);
    return other->wait() == ProcessEnd{};
  };
  {
    const auto lock = FileLock::take(folder / "lock");
    ASSERT_OK(lock);
    TEST_ASSERT_FALSE(others_get_it());
    TEST_ASSERT_FALSE(FileLock::take(folder / "lock").ok());  // nor twice by ourselves
  }
  TEST_ASSERT_TRUE(others_get_it());
}

TEST("The holder is named where the system tells") {
  const testing::TemporaryFolder folder;
  TEST_ASSERT_FALSE(lock_holder(folder / "lock").has_value());
  Holder holder(folder / "lock");
  const auto found = lock_holder(folder / "lock");
  if (!found) TEST_IGNORE_MESSAGE("this system does not list locks by file");
  TEST_ASSERT_EQUAL_INT(holder.process().pid(), *found);
  const std::string name = "(process " + std::to_string(*found) + ")";
  ASSERT_CONTAINS(testing::message_of(FileLock::take(folder / "lock")), name);
  holder.process().kill();
  TEST_ASSERT_FALSE(lock_holder(folder / "lock").has_value());
}

TEST("Who waits gets the lock when its holder ends, and gives up when the time is over") {
  const testing::TemporaryFolder folder;
  Holder holder(folder / "lock");
  const auto begin = std::chrono::steady_clock::now();
  const auto refused = FileLock::take(folder / "lock", {.timeout = 50ms});
  TEST_ASSERT_TRUE(!refused.ok() && refused.error().kind == ErrorKind::kUnavailable);
  TEST_ASSERT_TRUE(std::chrono::steady_clock::now() - begin >= 50ms);
  holder.process().signal(SIGKILL);  // it ends while we wait
  ASSERT_OK(FileLock::take(folder / "lock", {.timeout = kLockWait}));
}

TEST("A file is made for its owner alone; one that must exist is not made") {
  const testing::TemporaryFolder folder;
  const auto missing = FileLock::take(folder / "key", {.make_file = false});
  TEST_ASSERT_FALSE(missing.ok());
  TEST_ASSERT_TRUE(missing.error().kind == ErrorKind::kNotFound);
  TEST_ASSERT_FALSE(std::filesystem::exists(folder / "key"));
  ASSERT_OK(FileLock::take(folder / "lock"));
  TEST_ASSERT_TRUE(std::filesystem::status(folder / "lock").permissions() == std::filesystem::perms(0600));
  ASSERT_OK(write_file_atomically(folder / "key", "secret"));
  ASSERT_OK(FileLock::take(folder / "key", {.make_file = false}));
  TEST_ASSERT_EQUAL_STRING("secret", read_text_file(folder / "key").value().c_str());
}

TEST("A folder is locked through the file .lock in it, which other releases lock too") {
  const testing::TemporaryFolder folder;
  std::optional<FolderLock> lock;
  {
    auto taken = FolderLock::acquire(folder / "new");
    ASSERT_OK(taken);
    lock.emplace(std::move(*taken));
  }
  TEST_ASSERT_FALSE(FileLock::take(folder / "new" / ".lock").ok());
  lock.reset();
  ASSERT_OK(FileLock::take(folder / "new" / ".lock"));
}
