#include "bench/terminal_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

namespace aflguard::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct PseudoTerminal {
  FileDescriptor ours;
  FileDescriptor theirs;
};

Result<PseudoTerminal> open_terminal(view::ScreenSize size) {
  winsize window{};
  window.ws_col = static_cast<unsigned short>(size.columns);
  window.ws_row = static_cast<unsigned short>(size.rows);
  int ours = -1;
  int theirs = -1;
  if (::openpty(&ours, &theirs, nullptr, nullptr, &window) != 0) {
    return io_error(std::string("no pseudo-terminal: ") + std::strerror(errno));
  }
  PseudoTerminal terminal{FileDescriptor(ours), FileDescriptor(theirs)};
  if (!set_close_on_exec(ours) || !set_close_on_exec(theirs)) {
    return io_error(std::string("no pseudo-terminal: ") + std::strerror(errno));
  }
  return terminal;
}

}  // namespace

Result<TerminalProcess> TerminalProcess::start(const std::vector<std::string>& arguments,
                                               view::ScreenSize size) {
  TRY(PseudoTerminal terminal, open_terminal(size));
  const int theirs = terminal.theirs.get();
  TRY(Process process, Process::start({.arguments = arguments,
                                       .environment = {{"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}},
                                       .input = theirs,
                                       .output = theirs,
                                       .error = theirs,
                                       .group = ProcessGroup::kOwnTerminal,
                                       .ends_with_us = true}));
  return TerminalProcess(std::move(process), std::move(terminal.ours));
}

TerminalProcess::~TerminalProcess() {
  terminal_.close();  // who draws on it gets SIGHUP
  process_.signal(SIGTERM);
  process_.wait();
}

Status TerminalProcess::type(const std::string& keys) const {
  if (::write(terminal_.get(), keys.data(), keys.size()) == static_cast<ssize_t>(keys.size())) return {};
  return io_error("the pseudo-terminal takes no keys");
}

Result<bool> TerminalProcess::read_once(const Take& take, Clock::time_point deadline) const {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  if (left <= milliseconds(0)) return false;
  pollfd waiting{terminal_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return true;  // time is looked at again
  std::array<char, 16384> bytes{};
  const ssize_t done = ::read(terminal_.get(), bytes.data(), bytes.size());
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
