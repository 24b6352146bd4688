#include "core/system/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/base/check.h"
#include "core/system/file_descriptor.h"

extern char** environ;

namespace aflguard {
namespace {

constexpr int kCannotRun = 127;  // as shells say it
constexpr std::chrono::milliseconds kPollInterval{5};
constexpr int kStandardFiles = 3;
constexpr char kGo = 'g';

/// As exec() wants them; the words stay with their owner.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  return raw;
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> merged;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('='));
    const auto same = [name](const auto& change) { return change.first == name; };
    if (std::none_of(changes.begin(), changes.end(), same)) merged.emplace_back(text);
  }
  for (const auto& [name, value] : changes) merged.push_back(name + "=" + value);
  return merged;
}

/// What a child could not do, told to its parent through a pipe that closes itself when the program begins.
struct Failure {
  int in_folder = 0;  ///< 1: entering the folder; 0: running the program
  int number = 0;     ///< errno
};

/// Everything that a child needs. Made before the fork: a child of a program with threads may not allocate.
struct Preparation {
  std::vector<char*> arguments;
  std::vector<std::string> variables;
  std::vector<char*> environment;
  const char* folder = nullptr;
  std::array<FileDescriptor, kStandardFiles> owned;  ///< /dev/null, and copies of what stands in the way
  std::array<int, kStandardFiles> files{};
  ProcessGroup group = ProcessGroup::kShared;
  bool ends_with_us = false;
  pid_t parent = 0;
  sigset_t signals{};
  int permission = -1;
  int permission_from = -1;
  int failure = -1;
};

Status prepare_files(const ProcessOptions& options, Preparation& made) {
  const std::array<int, kStandardFiles> wanted = {options.input, options.output, options.error};
  for (int target = 0; target < kStandardFiles; ++target) {
    const auto at = static_cast<std::size_t>(target);
    made.files[at] = wanted[at];
    if (wanted[at] == target) continue;
    if (wanted[at] == kDevNull) {
      const int access = target == STDIN_FILENO ? O_RDONLY : O_WRONLY;
      made.owned[at] = FileDescriptor(::open("/dev/null", access | O_CLOEXEC));
      made.files[at] = made.owned[at].get();
    }
    // One of the first numbers would be overwritten before it is used, in a process that began without them.
    if (made.files[at] >= 0 && made.files[at] < kStandardFiles) {
      made.owned[at] = FileDescriptor(::fcntl(made.files[at], F_DUPFD_CLOEXEC, kStandardFiles));
      made.files[at] = made.owned[at].get();
    }
    if (made.files[at] < 0) return io_error(std::string("no file for a program: ") + std::strerror(errno));
  }
  return {};
}

// From here on to the next such line, code runs in the child of a fork: it must not allocate.

/// A signal that comes before the program begins must not run this process's handlers in the child.
void forget_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL) continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
}

void keep_files_here() {
  constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC, which older headers lack
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, kStandardFiles, ~0U, kCloseOnExec) == 0) return;
#endif
  // Kernels before 5.11, and emulators.
  constexpr int kMostFiles = 4096;
  for (int file = kStandardFiles; file < kMostFiles; ++file) ::fcntl(file, F_SETFD, FD_CLOEXEC);
}

void enter_group(const Preparation& made) {
  if (made.group == ProcessGroup::kOwn) ::setpgid(0, 0);
  if (made.group == ProcessGroup::kOwnSession || made.group == ProcessGroup::kOwnTerminal) ::setsid();
  if (made.group == ProcessGroup::kOwnTerminal) ::ioctl(made.files[STDIN_FILENO], TIOCSCTTY, 0);
}

[[noreturn]] void give_up(const Preparation& made, bool in_folder) {
  const Failure failure{in_folder ? 1 : 0, errno};
  (void)!::write(made.failure, &failure, sizeof failure);
  ::_exit(kCannotRun);
}

[[noreturn]] void become(const Preparation& made) {
  forget_handlers();
  ::pthread_sigmask(SIG_SETMASK, &made.signals, nullptr);
  enter_group(made);
  if (made.ends_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != made.parent) ::_exit(kCannotRun);  // it ended before that
  }
  if (made.permission >= 0) {
    ::close(made.permission_from);  // or it would wait for itself when its parent is gone
    char permission = 0;
    if (::read(made.permission, &permission, 1) != 1) ::_exit(kCannotRun);
  }
  if (*made.folder != '\0' && ::chdir(made.folder) != 0) give_up(made, true);
  for (int target = 0; target < kStandardFiles; ++target) {
    const int file = made.files[static_cast<std::size_t>(target)];
    if (file == target) ::fcntl(file, F_SETFD, 0);
    if (file != target && ::dup2(file, target) < 0) give_up(made, false);
  }
  keep_files_here();
  ::execvpe(made.arguments[0], made.arguments.data(), made.environment.data());
  give_up(made, false);
}

// Both sides again.

/// Forks while no signal can come, so that the child takes none with this process's handlers.
pid_t fork_quietly(Preparation& made) {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &made.signals);
  const pid_t child = ::fork();
  if (child == 0) become(made);
  const int problem = errno;
  ::pthread_sigmask(SIG_SETMASK, &made.signals, nullptr);
  errno = problem;
  return child;
}

Error failure_text(const Failure& failure, const ProcessOptions& options) {
  const std::string why = std::strerror(failure.number);
  const std::string text = failure.in_folder != 0 ? "cannot run " + options.arguments[0] + " in " +
                                                        options.folder.string() + ": " + why
                                                  : "cannot run " + options.arguments[0] + ": " + why;
  return failure.number == ENOENT ? not_found(text) : io_error(text);
}

}  // namespace

Result<Process> Process::start(const ProcessOptions& options) {
  check(!options.arguments.empty(), "a process needs a program");
  Preparation made;
  made.arguments = pointers(options.arguments);
  made.variables = merged_environment(options.environment);
  made.environment = pointers(made.variables);
  made.folder = options.folder.c_str();
  made.group = options.group;
  made.ends_with_us = options.ends_with_us;
  made.parent = ::getpid();
  TRY_STATUS(prepare_files(options, made));
  TRY(Pipe failures, make_pipe());
  made.failure = failures.write_end.get();
  Pipe permissions;
  if (options.before_start) {
    TRY(permissions, make_pipe());
    made.permission = permissions.read_end.get();
    made.permission_from = permissions.write_end.get();
  }
  const pid_t child = fork_quietly(made);
  if (child < 0) return io_error("cannot start " + options.arguments[0] + ": " + std::strerror(errno));
  Process process(child, options.group != ProcessGroup::kShared);
  failures.write_end.close();
  if (options.before_start) {
    const Status allowed = options.before_start(child);
    if (allowed.ok()) (void)!::write(permissions.write_end.get(), &kGo, 1);
    permissions.write_end.close();  // without permission it ends
    if (!allowed.ok()) {
      process.wait();
      return allowed.error();
    }
  }
  Failure failure;
  if (read_exactly(failures.read_end.get(), std::as_writable_bytes(std::span(&failure, 1)))) {
    process.wait();
    return failure_text(failure, options);
  }
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(other.release()), own_group_(other.own_group_), end_(other.end_) {}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = other.release();
    own_group_ = other.own_group_;
    end_ = other.end_;
  }
  return *this;
}

Process::~Process() {
  kill();
}

/// True when it has ended.
bool Process::reap(int flags) {
  if (pid_ < 0) return true;
  int status = 0;
  pid_t found = -1;
  while ((found = ::waitpid(pid_, &status, flags)) < 0 && errno == EINTR) {
  }
  if (found == 0) return false;
  pid_ = -1;
  if (found < 0) {
    end_ = ProcessEnd{-1, 0};  // another part of this process has asked before
  } else if (WIFSIGNALED(status)) {
    end_ = ProcessEnd{0, WTERMSIG(status)};
  } else {
    end_ = ProcessEnd{WEXITSTATUS(status), 0};
  }
  return true;
}

ProcessEnd Process::wait() {
  reap(0);
  return end_.value_or(ProcessEnd{-1, 0});
}

std::optional<ProcessEnd> Process::wait_for(std::chrono::milliseconds timeout) {
  return wait_until(std::chrono::steady_clock::now() + timeout);
}

std::optional<ProcessEnd> Process::wait_until(std::chrono::steady_clock::time_point deadline) {
  while (!reap(WNOHANG)) {
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(kPollInterval);
  }
  return end_.value_or(ProcessEnd{-1, 0});
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

ProcessEnd Process::kill() {
  signal(SIGKILL);
  if (pid_ > 0 && own_group_) ::kill(-pid_, SIGKILL);  // until wait(), its number is given to no other
  return wait();
}

ProcessEnd Process::stop(std::chrono::milliseconds timeout) {
  signal(SIGTERM);
  if (const auto end = wait_for(timeout)) return *end;
  return kill();
}

Status become_program(const std::filesystem::path& program, const std::string& called,
                      const std::vector<std::string>& arguments) {
  std::vector<char*> raw = {const_cast<char*>(called.c_str())};
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  ::execv(program.c_str(), raw.data());
  return io_error("cannot run " + program.string() + ": " + std::strerror(errno));
}

}  // namespace aflguard
