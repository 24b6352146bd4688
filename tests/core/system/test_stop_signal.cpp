#include <atomic>
#include <csignal>
#include <future>
#include <sys/wait.h>
#include <unistd.h>

#include "core/system/stop_signal.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

/// Counts on one thread, waits on another.
class Counted final {
 public:
  void add() {
    count_ = count_ + 1;
    count_.notify_one();
  }
  void wait_for(int count) {
    for (int seen = count_; seen < count; seen = count_) count_.wait(seen);
  }

 private:
  std::atomic<int> count_{0};
};

}  // namespace

TEST("SIGTERM and SIGINT become one call on an ordinary thread") {
  for (const int signal : {SIGTERM, SIGINT}) {
    std::promise<void> stopped;
    auto stop = StopSignal::install([&] { stopped.set_value(); });
    ASSERT_OK(stop);
    TEST_ASSERT_FALSE((*stop)->requested());
    ::raise(signal);
    stopped.get_future().wait();
    TEST_ASSERT_TRUE((*stop)->requested());
  }
}

TEST("Without a signal nothing is called, and the old handlers come back") {
  struct sigaction before {};
  ::sigaction(SIGTERM, nullptr, &before);
  {
    auto stop = StopSignal::install([] { TEST_FAIL_MESSAGE("nobody asked to stop"); });
    ASSERT_OK(stop);
  }
  struct sigaction after {};
  ::sigaction(SIGTERM, nullptr, &after);
  TEST_ASSERT_TRUE(before.sa_handler == after.sa_handler);
}

TEST("A second signal ends a process that does not come to its end") {
  const pid_t child = ::fork();
  if (child == 0) {
    std::promise<void> stopped;
    auto stop = StopSignal::install([&] { stopped.set_value(); });
    ::raise(SIGTERM);
    stopped.get_future().wait();
    ::raise(SIGTERM);
    ::_exit(0);
  }
  int outcome = 0;
  TEST_ASSERT_EQUAL_INT(child, ::waitpid(child, &outcome, 0));
  TEST_ASSERT_TRUE(WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGTERM);
}

TEST("SIGHUP calls for a reload as often as it comes, and a stop still stops") {
  std::promise<void> stopped;
  Counted reloads;
  auto stop = StopSignal::install([&] { stopped.set_value(); }, [&] { reloads.add(); });
  ASSERT_OK(stop);
  for (int i = 1; i <= 3; ++i) {
    ::raise(SIGHUP);
    reloads.wait_for(i);
    TEST_ASSERT_FALSE((*stop)->requested());
  }
  ::raise(SIGTERM);
  stopped.get_future().wait();
  TEST_ASSERT_TRUE((*stop)->requested());
}

TEST("A program that has nothing to reload is ended by SIGHUP, as before") {
  const pid_t child = ::fork();
  if (child == 0) {
    auto stop = StopSignal::install([] {});
    ::raise(SIGHUP);
    ::_exit(0);
  }
  int outcome = 0;
  TEST_ASSERT_EQUAL_INT(child, ::waitpid(child, &outcome, 0));
  TEST_ASSERT_TRUE(WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGHUP);
}
