#include "bench/terminal_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <pty.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace aflguard::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

[[noreturn]] void become(const std::vector<std::string>& arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setenv("TERM", "xterm", 1);
  ::setenv("LC_ALL", "C.UTF-8", 1);
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  ::_exit(127);
}

}  // namespace

Result<TerminalProcess> TerminalProcess::start(const std::vector<std::string>& arguments,
                                               view::ScreenSize size) {
  winsize window{};
  window.ws_col = static_cast<unsigned short>(size.columns);
  window.ws_row = static_cast<unsigned short>(size.rows);
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &window);
  if (child < 0) return io_error(std::string("no pseudo-terminal: ") + std::strerror(errno));
  if (child == 0) become(arguments);
  return TerminalProcess(child, terminal);
}

TerminalProcess::TerminalProcess(TerminalProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), terminal_(std::exchange(other.terminal_, -1)) {}

TerminalProcess::~TerminalProcess() {
  if (terminal_ >= 0) ::close(terminal_);  // whoever draws on it is told by SIGHUP
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Status TerminalProcess::type(const std::string& keys) const {
  if (::write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size())) return {};
  return io_error("the pseudo-terminal takes no keys");
}

Result<bool> TerminalProcess::read_once(const Take& take, Clock::time_point deadline) const {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  if (left <= milliseconds(0)) return false;
  pollfd waiting{terminal_, POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return true;  // time is looked at again
  std::array<char, 16384> bytes{};
  const ssize_t done = ::read(terminal_, bytes.data(), bytes.size());
  if (done <= 0) return unavailable("the program on the terminal has ended");
  take({bytes.data(), static_cast<std::size_t>(done)});
  return true;
}

Status TerminalProcess::read_for(const Take& take, Clock::duration span) const {
  for (const auto deadline = Clock::now() + span;;) {
    TRY(const bool read, read_once(take, deadline));
    if (!read) return {};
  }
}

Status TerminalProcess::read_until(const Take& take, const std::function<bool()>& enough,
                                   Clock::duration timeout) const {
  const auto deadline = Clock::now() + timeout;
  while (!enough()) {
    TRY(const bool read, read_once(take, deadline));
    if (!read) return unavailable("the screen did not show what was expected");
  }
  return {};
}

}  // namespace aflguard::bench
