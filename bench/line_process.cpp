#include "bench/line_process.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace aflguard::bench {

Result<LineProcess> LineProcess::start(const std::vector<std::string>& arguments) {
  int to_child[2];
  int from_child[2];
  if (::pipe2(to_child, O_CLOEXEC) != 0)
    return io_error("cannot make a pipe: " + std::string(std::strerror(errno)));
  if (::pipe2(from_child, O_CLOEXEC) != 0) {
    ::close(to_child[0]);
    ::close(to_child[1]);
    return io_error("cannot make a pipe: " + std::string(std::strerror(errno)));
  }
  // A child that died must be an error of send(), not the end of this process.
  ::signal(SIGPIPE, SIG_IGN);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int problem = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(to_child[0]);
  ::close(from_child[1]);
  if (problem != 0) {
    ::close(to_child[1]);
    ::close(from_child[0]);
    return not_found("cannot run " + arguments[0] + ": " + std::strerror(problem));
  }
  return LineProcess(child, ::fdopen(to_child[1], "w"), ::fdopen(from_child[0], "r"));
}

LineProcess::LineProcess(LineProcess&& other) noexcept
    : child_(std::exchange(other.child_, 0)),
      to_(std::exchange(other.to_, nullptr)),
      from_(std::exchange(other.from_, nullptr)) {}

LineProcess::~LineProcess() {
  if (to_ != nullptr) std::fclose(to_);
  if (from_ != nullptr) std::fclose(from_);
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

Status LineProcess::send(const std::string& line) {
  if (std::fprintf(to_, "%s\n", line.c_str()) < 0 || std::fflush(to_) != 0) {
    return unavailable("the child process has ended");
  }
  return {};
}

Result<std::string> LineProcess::receive() {
  std::string line;
  for (int c = std::fgetc(from_); c != '\n'; c = std::fgetc(from_)) {
    if (c == EOF) return unavailable("the child process has ended");
    line += static_cast<char>(c);
  }
  return line;
}

}  // namespace aflguard::bench
