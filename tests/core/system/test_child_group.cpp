#include <chrono>
#include <csignal>

#include "core/system/atomic_file.h"
#include "core/system/child_group.h"
#include "tests/support/test.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 60s;

/// What check_running() says once it says something.
std::string first_problem(ChildGroup& group) {
  std::string problem;
  testing::wait_until("a program has ended", [&] {
    const Status running = group.check_running();
    if (!running.ok()) problem = running.error().message;
    return !running.ok();
  });
  return problem;
}

}  // namespace

TEST("A program that ended by itself is named once, with its code and the end of its log") {
  const testing::TemporaryFolder folder;
  ChildGroup group(kLong);
  ASSERT_OK(group.start("the other", {"sleep", "600"}, folder.path(), folder / "other.log"));
  ASSERT_OK(group.start("the broker",
                        {"sh", "-c", R"(echo one; echo '{"schema":"aflguard.x.v1"}'; echo two; exit 3)"},
                        folder.path(), folder / "log"));
  ASSERT_CONTAINS(first_problem(group), "the broker ended with code 3; its log ");
  ASSERT_OK(group.check_running());
  TEST_ASSERT_EQUAL_STRING("one | two", last_lines(folder / "log", 3).c_str());
}

TEST("Stopping gives every program its SIGTERM, and kills what does not end in time") {
  const testing::TemporaryFolder folder;
  ChildGroup group(1s);
  ASSERT_OK(group.start(
      "one that ends", {"sh", "-c", "trap 'echo ended; exit' TERM; echo ready; while :; do sleep 0.01; done"},
      folder.path(), folder / "ends"));
  ASSERT_OK(group.start("one that does not",
                        {"sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done"}, folder.path(),
                        folder / "stays"));
  for (const char* log : {"ends", "stays"}) {
    testing::wait_until("both have begun", [&] { return !read_text_file(folder / log).value().empty(); });
  }
  group.stop();
  TEST_ASSERT_EQUAL_INT(-1, ::kill(std::stoi(read_text_file(folder / "stays").value()), 0));
  TEST_ASSERT_EQUAL_STRING("ready\nended\n", read_text_file(folder / "ends").value().c_str());
  ASSERT_OK(group.check_running());  // they were told to
}

TEST("A program that does not exist is an error that names it") {
  const testing::TemporaryFolder folder;
  ChildGroup group(kLong);
  const Status missing =
      group.start("the broker", {"aflguard-no-such-program"}, folder.path(), folder / "log");
  TEST_ASSERT_TRUE(!missing.ok() && missing.error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(missing.error().message, "the broker: cannot run aflguard-no-such-program");
}
