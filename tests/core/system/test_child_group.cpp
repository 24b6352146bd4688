#include <chrono>
#include <csignal>
#include <thread>

#include "core/system/atomic_file.h"
#include "core/system/child_group.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 60s;

void wait_for_text(const std::filesystem::path& file, const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  for (auto found = read_text_file(file); !found.ok() || *found != text; found = read_text_file(file)) {
    TEST_ASSERT_TRUE_MESSAGE(std::chrono::steady_clock::now() < deadline, testing::message_of(found).c_str());
    std::this_thread::sleep_for(2ms);
  }
}

/// What check_running() says once it says something.
std::string first_problem(ChildGroup& group) {
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (true) {
    if (const Status running = group.check_running(); !running.ok()) return running.error().message;
    TEST_ASSERT_TRUE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(2ms);
  }
}

}  // namespace

TEST("A program that ended by itself is named once, with its code and the end of its log") {
  const testing::TemporaryFolder folder;
  ChildGroup group(kLong);
  ASSERT_OK(group.start("the other", {"sleep", "600"}, folder.path(), folder / "other.log"));
  ASSERT_OK(
      group.start("the broker", {"sh", "-c", "echo one; echo two; exit 3"}, folder.path(), folder / "log"));
  ASSERT_CONTAINS(first_problem(group), "the broker ended with code 3; its log ");
  ASSERT_OK(group.check_running());
  TEST_ASSERT_EQUAL_STRING("one | two", last_lines(folder / "log", 3).c_str());
}

TEST("Stopping gives every program its SIGTERM, and kills what does not end in time") {
  const testing::TemporaryFolder folder;
  ChildGroup group(50ms);
  ASSERT_OK(group.start(
      "one that ends", {"sh", "-c", "trap 'echo ended; exit' TERM; echo ready; while :; do sleep 0.01; done"},
      folder.path(), folder / "ends"));
  ASSERT_OK(group.start("one that does not",
                        {"sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.01; done"}, folder.path(),
                        folder / "stays"));
  wait_for_text(folder / "ends", "ready\n");
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (read_text_file(folder / "stays").value().empty()) {
    TEST_ASSERT_TRUE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(2ms);
  }
  group.stop();
  TEST_ASSERT_EQUAL_INT(-1, ::kill(std::stoi(read_text_file(folder / "stays").value()), 0));
  ASSERT_OK(group.check_running());  // it was told to
}

TEST("A program that does not exist is an error that names it") {
  const testing::TemporaryFolder folder;
  ChildGroup group(kLong);
  const Status missing =
      group.start("the broker", {"aflguard-no-such-program"}, folder.path(), folder / "log");
  TEST_ASSERT_TRUE(!missing.ok() && missing.error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(missing.error().message, "the broker: cannot run aflguard-no-such-program");
}
