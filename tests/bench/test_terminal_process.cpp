#include "bench/terminal_process.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::bench;
using namespace std::chrono_literals;

TEST("A program sees its terminal, with its size, and reads what is typed") {
  auto process = TerminalProcess::start(
      {"sh", "-c", "stty size </dev/tty; echo $TERM $LC_ALL; read line; echo heard $line; exec sleep 600"},
      {.columns = 91, .rows = 17});
  ASSERT_OK(process);
  std::string shown;
  const auto take = [&](std::string_view text) { shown += text; };
  const auto shows = [&](const char* text) {
    return process->read_until(
        take, [&, text] { return shown.find(text) != std::string::npos; }, 60s);
  };
  ASSERT_OK(shows("17 91"));
  ASSERT_OK(shows("xterm C.UTF-8"));
  ASSERT_OK(process->type("keys\n"));
  ASSERT_OK(shows("heard keys"));
}

TEST("A program that ends takes its terminal with it, and one that does not exist is not found") {
  auto process = TerminalProcess::start({"true"}, {.columns = 80, .rows = 24});
  ASSERT_OK(process);
  const auto ended = process->read_until([](std::string_view) {}, [] { return false; }, 60s);
  TEST_ASSERT_TRUE(!ended.ok() && ended.error().kind == ErrorKind::kUnavailable);
  ASSERT_CONTAINS(ended.error().message, "has ended");
  TEST_ASSERT_FALSE(TerminalProcess::start({"aflguard-no-such-program"}, {.columns = 80, .rows = 24}).ok());
}
