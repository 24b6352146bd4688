#include <csignal>
#include <sys/types.h>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/background_process.h"
#include "tests/support/test.h"
#include "tests/support/wait_until.h"

using namespace aflguard;

TEST("A background program runs in its folder, writes to its log, and is gone after its signal") {
  const testing::TemporaryFolder folder;
  auto process = BackgroundProcess::start({"sh", "-c", "pwd; echo problem >&2; exec sleep 600"},
                                          folder.path(), folder / "log");
  ASSERT_OK(process);
  const auto said = [&] { return read_text_file(folder / "log").value(); };
  testing::wait_until("the log holds both outputs",
                      [&] { return said() == folder.path().string() + "\nproblem\n"; });
  TEST_ASSERT_TRUE(process->running());
  const pid_t pid = process->pid();
  process->end(SIGTERM);
  TEST_ASSERT_FALSE(process->running());
  TEST_ASSERT_EQUAL_INT(-1, ::kill(pid, 0));
}

TEST("A background program ends with its object") {
  const testing::TemporaryFolder folder;
  pid_t pid = 0;
  {
    auto process = BackgroundProcess::start({"sleep", "600"}, folder.path(), folder / "log");
    ASSERT_OK(process);
    pid = process->pid();
    TEST_ASSERT_EQUAL_INT(0, ::kill(pid, 0));
  }
  TEST_ASSERT_EQUAL_INT(-1, ::kill(pid, 0));
}

TEST("A program that ends by itself does not run any more") {
  const testing::TemporaryFolder folder;
  auto process = BackgroundProcess::start({"true"}, folder.path(), folder / "log");
  ASSERT_OK(process);
  testing::wait_until("it ends", [&] { return !process->running(); });
}

TEST("A program that does not exist is not found") {
  const testing::TemporaryFolder folder;
  const auto process = BackgroundProcess::start({"aflguard-no-such-program"}, folder.path(), folder / "log");
  TEST_ASSERT_TRUE(!process.ok() && process.error().kind == ErrorKind::kNotFound);
}

TEST("A log that cannot be written is an error") {
  const testing::TemporaryFolder folder;
  const auto process = BackgroundProcess::start({"true"}, folder.path(), folder / "nowhere" / "log");
  TEST_ASSERT_FALSE(process.ok());
  ASSERT_CONTAINS(process.error().message, "nowhere");
}
