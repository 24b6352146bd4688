#include "core/system/background_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace aflguard {
namespace {

constexpr int kCannotRun = 127;  // as shells say it

/// Runs in the child of a fork. A program with threads may do little there: nothing here allocates.
[[noreturn]] void become(pid_t parent, char* const* arguments, const char* folder, int input, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent || ::chdir(folder) != 0) ::_exit(kCannotRun);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  ::_exit(kCannotRun);
}

}  // namespace

Result<BackgroundProcess> BackgroundProcess::start(const std::vector<std::string>& arguments,
                                                   const std::filesystem::path& folder,
                                                   const std::filesystem::path& log) {
  check(!arguments.empty(), "a background process needs a program");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0) return io_error(log.string() + ": cannot be opened: " + std::strerror(errno));
  const int input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(parent, argv.data(), folder.c_str(), input, output);
  const int failure = errno;
  ::close(input);
  ::close(output);
  if (child < 0) return io_error("cannot start " + arguments[0] + ": " + std::strerror(failure));
  return BackgroundProcess(child);
}

BackgroundProcess::BackgroundProcess(BackgroundProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)) {}

BackgroundProcess& BackgroundProcess::operator=(BackgroundProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

BackgroundProcess::~BackgroundProcess() {
  end(SIGKILL);
}

bool BackgroundProcess::running() {
  int status = 0;
  if (pid_ >= 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) pid_ = -1;
  return pid_ >= 0;
}

void BackgroundProcess::end(int signal) {
  if (pid_ < 0) return;
  ::kill(pid_, signal);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace aflguard
