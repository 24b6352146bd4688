#include "firmware_sim/simulation/detached_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace aflguard::sim {
namespace {

constexpr int kCannotRun = 127;  // as shells say it
constexpr std::chrono::seconds kKillTimeout{30};

/// A file descriptor that closes itself.
class Descriptor final {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

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

/// Runs in the child of a fork: nothing here may allocate.
[[noreturn]] void become(char* const* arguments, const char* folder, int output, int go, int problem) {
  ::setsid();
  char permission = 0;
  if (::read(go, &permission, 1) != 1) ::_exit(kCannotRun);
  const int input = ::open("/dev/null", O_RDONLY);
  if (::chdir(folder) == 0) {
    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execvp(arguments[0], arguments);
  }
  const int failure = errno;
  (void)!::write(problem, &failure, sizeof failure);
  ::_exit(kCannotRun);
}

/// Our own child stays a zombie until somebody has asked how it ended.
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
  check(!command.arguments.empty(), "a process needs a program");
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const Descriptor output(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (output.get() < 0) return io_error(command.log.string() + ": cannot be opened: " + std::strerror(errno));
  std::array<int, 2> go{};
  std::array<int, 2> problem{};
  if (::pipe2(go.data(), O_CLOEXEC) != 0) return io_error(std::string("no pipe: ") + std::strerror(errno));
  Descriptor go_read(go[0]);
  Descriptor go_write(go[1]);
  if (::pipe2(problem.data(), O_CLOEXEC) != 0)
    return io_error(std::string("no pipe: ") + std::strerror(errno));
  const Descriptor problem_read(problem[0]);
  Descriptor problem_write(problem[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(go[1]);  // or it would wait for itself when its parent is gone
    become(arguments.data(), command.folder.c_str(), output.get(), go[0], problem[1]);
  }
  if (child < 0) return io_error("cannot start " + command.arguments[0] + ": " + std::strerror(errno));
  problem_write.reset();
  go_read.reset();
  const auto give_up = [&](const Error& error) {
    go_write.reset();  // the child ends without its program
    ::waitpid(child, nullptr, 0);
    return error;
  };
  const auto mark = mark_of(child);
  if (!mark.ok()) return give_up(mark.error());
  if (const Status recorded = record(*mark); !recorded.ok()) return give_up(recorded.error());
  (void)!::write(go_write.get(), "g", 1);
  int failure = 0;
  if (::read(problem_read.get(), &failure, sizeof failure) != sizeof failure) return *mark;
  ::waitpid(child, nullptr, 0);
  return not_found("cannot run " + command.arguments[0] + " in " + command.folder.string() + ": " +
                   std::strerror(failure));
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
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!is_running(process)) return {};
  const std::string who = "process " + std::to_string(process.pid);
  if (handle.get() < 0) return io_error("cannot reach " + who + ": " + std::strerror(errno));
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

Status stop_process(const ProcessMark& process, std::chrono::milliseconds grace) {
  Status asked = end_process(process, SIGTERM, grace);
  if (asked.ok() || asked.error().kind != ErrorKind::kUnavailable) return asked;
  return end_process(process, SIGKILL, kKillTimeout);
}

}  // namespace aflguard::sim
