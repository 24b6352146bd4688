#include "tests/support/background_process.h"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/check.h"

namespace aflguard::testing {

BackgroundProcess::BackgroundProcess(const std::vector<std::string>& arguments,
                                     const std::filesystem::path& folder, const std::filesystem::path& log) {
  // Everything that allocates happens before the fork: a child of a program with threads may not.
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  check(output >= 0, "the log of a background process can be opened");
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  check(pid_ >= 0, "a background process can be forked");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent || ::chdir(folder.c_str()) != 0) ::_exit(127);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execvp(raw[0], raw.data());
    ::_exit(127);
  }
  ::close(output);
}

BackgroundProcess::~BackgroundProcess() {
  end(SIGKILL);
}

bool BackgroundProcess::running() {
  int status = 0;
  if (pid_ >= 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) note_end(status);
  return pid_ >= 0;
}

int BackgroundProcess::end(int signal) {
  if (pid_ < 0) return -1;
  ::kill(pid_, signal);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  note_end(status);
  return exit_code_;
}

void BackgroundProcess::note_end(int status) {
  pid_ = -1;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace aflguard::testing
