#include "firmware_sim/simulation/detached_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/system/file_descriptor.h"
#include "core/system/process.h"

namespace aflguard::sim {
namespace {

constexpr std::chrono::seconds kKillTimeout{30};

std::string this_boot() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(in, id);
  return id;
}

struct ProcessState {
  char state = 'X';  ///< as ps shows it
  std::uint64_t start_ticks = 0;
};

Result<ProcessState> state_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  const auto gone = [pid] { return not_found("there is no process " + std::to_string(pid)); };
  if (!std::getline(in, line)) return gone();
  // The program's name is in parentheses and may contain any of them: fields count from the last one.
  const auto after_name = line.rfind(')');
  if (after_name == std::string::npos) return gone();
  std::istringstream fields(line.substr(after_name + 1));
  ProcessState found;
  fields >> found.state;
  std::string skipped;
  constexpr int kBetweenStateAndStart = 18;
  for (int i = 0; i < kBetweenStateAndStart; ++i) fields >> skipped;
  fields >> found.start_ticks;
  if (!fields) return gone();
  return found;
}

/// Our own child stays a zombie until it was asked how it ended.
void reap(pid_t pid) {
  ::waitpid(pid, nullptr, WNOHANG);
}

}  // namespace

Result<ProcessMark> mark_of(pid_t pid) {
  TRY(const ProcessState state, state_of(pid));
  return ProcessMark{pid, state.start_ticks, this_boot()};
}

Result<ProcessMark> start_detached(const Command& command,
                                   const std::function<Status(const ProcessMark&)>& record) {
  TRY(const FileDescriptor output, open_log(command.log));
  ProcessMark mark;
  const auto note = [&](pid_t pid) -> Status {
    TRY(mark, mark_of(pid));
    return record(mark);
  };
  TRY(Process process, Process::start({.arguments = command.arguments,
                                       .folder = command.folder,
                                       .output = output.get(),
                                       .error = output.get(),
                                       .group = ProcessGroup::kOwnSession,
                                       .before_start = note}));
  (void)process.release();
  return mark;
}

bool is_running(const ProcessMark& process) {
  if (process.pid <= 1 || process.boot != this_boot()) return false;
  reap(process.pid);
  const auto state = state_of(process.pid);
  return state.ok() && state->start_ticks == process.start_ticks && state->state != 'Z' &&
         state->state != 'X';
}

Status end_process(const ProcessMark& process, int signal, std::chrono::milliseconds timeout) {
  if (!is_running(process)) return {};
  // The descriptor stands for one process: between looking and signalling its number cannot change hands.
  const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!is_running(process)) return {};
  const std::string who = "process " + std::to_string(process.pid);
  if (!handle.valid()) return io_error("cannot reach " + who + ": " + std::strerror(errno));
  if (::syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0) != 0 && errno != ESRCH) {
    return io_error("cannot signal " + who + ": " + std::strerror(errno) + "; run this as its owner");
  }
  pollfd ended{handle.get(), POLLIN, 0};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int ready = ::poll(&ended, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
    if (ready > 0) break;
    if (ready < 0 && errno == EINTR) continue;
    return unavailable(who + " does not end");
  }
  reap(process.pid);
  return {};
}

Status stop_process(const ProcessMark& process, std::chrono::milliseconds timeout) {
  Status asked = end_process(process, SIGTERM, timeout);
  if (asked.ok() || asked.error().kind != ErrorKind::kUnavailable) return asked;
  return end_process(process, SIGKILL, kKillTimeout);
}

}  // namespace aflguard::sim
