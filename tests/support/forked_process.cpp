#include "tests/support/forked_process.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "core/base/check.h"
#include "tests/support/test_aborted.h"

namespace aflguard::testing {
namespace {

[[noreturn]] void run(const std::function<void()>& body) {
  int code = 1;
  try {
    body();
    code = 0;
  } catch (const TestAborted&) {
    // Unity has printed why.
  } catch (const std::exception& problem) {
    std::printf("exception: %s\n", problem.what());
  }
  std::fflush(nullptr);
  ::_exit(code);  // what else the test holds is its own to clean up
}

}  // namespace

ForkedProcess::ForkedProcess(const std::function<void()>& body) {
  std::fflush(nullptr);  // or both would print it
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  check(pid_ >= 0, "a process can be forked");
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  run(body);
}

ForkedProcess::ForkedProcess(ForkedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), exit_code_(other.exit_code_) {}

ForkedProcess::~ForkedProcess() {
  kill();
}

bool ForkedProcess::running() {
  int status = 0;
  if (pid_ >= 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) note_end(status);
  return pid_ >= 0;
}

int ForkedProcess::wait() {
  int status = 0;
  while (pid_ >= 0) {
    if (::waitpid(pid_, &status, 0) == pid_) {
      note_end(status);
    } else {
      check(errno == EINTR, "a child can be waited for");
    }
  }
  return exit_code_;
}

void ForkedProcess::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  (void)wait();
}

void ForkedProcess::note_end(int status) {
  pid_ = -1;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace aflguard::testing
