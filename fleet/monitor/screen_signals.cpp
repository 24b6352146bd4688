#include "fleet/monitor/screen_signals.h"

#include <cerrno>
#include <cstring>
#include <sys/signalfd.h>
#include <unistd.h>

namespace aflguard::view {

Result<std::unique_ptr<ScreenSignals>> ScreenSignals::install() {
  sigset_t wanted;
  sigset_t before;
  sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT}) sigaddset(&wanted, signal);
  // A terminal or a pipe that is gone shows as a failed write.
  std::signal(SIGPIPE, SIG_IGN);
  if (::pthread_sigmask(SIG_BLOCK, &wanted, &before) != 0) return io_error("signals cannot be blocked");
  FileDescriptor descriptor(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!descriptor.valid()) return io_error("signals cannot be read: " + std::string(std::strerror(errno)));
  return std::unique_ptr<ScreenSignals>(new ScreenSignals(std::move(descriptor), before));
}

ScreenSignals::~ScreenSignals() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> ScreenSignals::next() const {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace aflguard::view
