#include <csignal>
#include <thread>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "firmware_sim/simulation/detached_process.h"
#include "tests/support/test.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::sim;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 60s;

Status record_nothing(const ProcessMark&) {
  return {};
}

/// A program that ends with the test.
struct Started {
  explicit Started(const Command& command) : process(start_detached(command, record_nothing)) {}
  ~Started() {
    if (process.ok()) (void)end_process(*process, SIGKILL, kLong);
  }
  Result<ProcessMark> process;
};

void wait_for_text(const std::filesystem::path& file, const std::string& text) {
  testing::wait_until(file.string() + " holds: " + text, [&] {
    const auto found = read_text_file(file);
    return found.ok() && *found == text;
  });
}

}  // namespace

TEST("A detached program runs in its folder and its own session, and writes to its log") {
  const testing::TemporaryFolder folder;
  const Started started(
      {{"sh", "-c", "pwd; echo problem >&2; exec sleep 600"}, folder.path(), folder / "log"});
  ASSERT_OK(started.process);
  wait_for_text(folder / "log", folder.path().string() + "\nproblem\n");
  TEST_ASSERT_TRUE(is_running(*started.process));
  TEST_ASSERT_EQUAL_INT(started.process->pid, ::getsid(started.process->pid));
  ASSERT_OK(end_process(*started.process, SIGTERM, kLong));
  TEST_ASSERT_FALSE(is_running(*started.process));
  ASSERT_OK(end_process(*started.process, SIGTERM, kLong));  // again: nothing happens
}

TEST("A program begins only after it was recorded, and not at all when that fails") {
  const testing::TemporaryFolder folder;
  ProcessMark recorded;
  const auto refused = start_detached({{"touch", "begun"}, folder.path(), folder / "log"},
                                      [&](const ProcessMark& mark) -> Status {
                                        recorded = mark;
                                        return io_error("no space");
                                      });
  TEST_ASSERT_FALSE(refused.ok());
  ASSERT_CONTAINS(refused.error().message, "no space");
  TEST_ASSERT_TRUE(recorded.pid > 1);
  TEST_ASSERT_FALSE(is_running(recorded));
  TEST_ASSERT_FALSE(std::filesystem::exists(folder / "begun"));
}

TEST("A program that cannot be run is an error that names it") {
  const testing::TemporaryFolder folder;
  const auto missing =
      start_detached({{"no-such-program-here"}, folder.path(), folder / "log"}, record_nothing);
  TEST_ASSERT_FALSE(missing.ok());
  ASSERT_CONTAINS(missing.error().message, "cannot run no-such-program-here");
}

TEST("A number that has gone to another process is not taken for the one that is gone") {
  const auto self = mark_of(::getpid());
  ASSERT_OK(self);
  TEST_ASSERT_TRUE(is_running(*self));
  ProcessMark earlier = *self;
  earlier.start_ticks -= 1;
  TEST_ASSERT_FALSE(is_running(earlier));
  ASSERT_OK(end_process(earlier, SIGKILL, kLong));  // we are still here
  ProcessMark other_boot = *self;
  other_boot.boot = "another";
  TEST_ASSERT_FALSE(is_running(other_boot));
  ASSERT_OK(end_process(other_boot, SIGKILL, kLong));
}

TEST("What ignores the request is killed after its timeout") {
  const testing::TemporaryFolder folder;
  const Started started({{"sh", "-c", "trap '' TERM; echo ready; while true; do sleep 1; done"},
                         folder.path(),
                         folder / "log"});
  ASSERT_OK(started.process);
  wait_for_text(folder / "log", "ready\n");
  const Status asked = end_process(*started.process, SIGTERM, 50ms);
  TEST_ASSERT_FALSE(asked.ok());
  TEST_ASSERT_TRUE(asked.error().kind == ErrorKind::kUnavailable);
  TEST_ASSERT_TRUE(is_running(*started.process));
  ASSERT_OK(stop_process(*started.process, 50ms));
  TEST_ASSERT_FALSE(is_running(*started.process));
}

TEST("A program that ends by itself does not run any more, though nobody asked how it ended") {
  const testing::TemporaryFolder folder;
  const Started started({{"true"}, folder.path(), folder / "log"});
  ASSERT_OK(started.process);
  testing::wait_until("it has ended", [&] { return !is_running(*started.process); });
}
