#include "core/system/child_group.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace aflguard {
namespace {

constexpr std::size_t kShownLines = 3;

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with code " + std::to_string(WEXITSTATUS(status));
}

/// The child's half of a fork: nothing here may allocate.
[[noreturn]] void become(char* const* arguments, const char* folder, int output, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent || ::chdir(folder) != 0) ::_exit(127);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  constexpr char kProblem[] = "cannot be run: is it installed?\n";
  (void)!::write(STDERR_FILENO, kProblem, sizeof kProblem - 1);
  ::_exit(127);
}

}  // namespace

Status ChildGroup::start(const std::string& name, const std::vector<std::string>& arguments,
                         const std::filesystem::path& folder, const std::filesystem::path& log) {
  check(!arguments.empty(), "a child needs a program");
  std::vector<char*> raw;
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0) return io_error("cannot write " + log.string() + ": " + std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(raw.data(), folder.c_str(), output, parent);
  ::close(output);
  if (child < 0) return io_error("cannot start " + name + ": " + std::strerror(errno));
  children_.push_back({name, log, child});
  return {};
}

Status ChildGroup::check_running() {
  for (Child& child : children_) {
    int status = 0;
    if (child.pid < 0 || ::waitpid(child.pid, &status, WNOHANG) != child.pid) continue;
    child.pid = -1;
    return internal_error(child.name + " " + how_it_ended(status) + "; its log " + child.log.string() +
                          " ends: " + last_lines(child.log, kShownLines));
  }
  return {};
}

void ChildGroup::stop() {
  for (const Child& child : children_) {
    if (child.pid > 0) ::kill(child.pid, SIGTERM);
  }
  const auto deadline = std::chrono::steady_clock::now() + grace_;
  for (Child& child : children_) {
    bool killed = false;
    while (child.pid > 0 && ::waitpid(child.pid, nullptr, killed ? 0 : WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= deadline) killed = ::kill(child.pid, SIGKILL) == 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    child.pid = -1;
  }
}

std::string last_lines(const std::filesystem::path& log, std::size_t lines) {
  std::ifstream in(log);
  std::vector<std::string> kept;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    kept.push_back(line);
    if (kept.size() > lines) kept.erase(kept.begin());
  }
  std::string text;
  for (const std::string& line : kept) text += (text.empty() ? "" : " | ") + line;
  return text.empty() ? "(empty)" : text;
}

}  // namespace aflguard
