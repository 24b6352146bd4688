#include "core/system/child_process.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace aflguard {
namespace {

/// posix_spawn's description of the child's files and folder.
class FileActions final {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  void set(const std::filesystem::path& folder, int output) {
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

Result<pid_t> spawn(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                    int output) {
  FileActions actions;
  actions.set(folder, output);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int problem = ::posix_spawnp(&child, argv[0], actions.get(), nullptr, argv.data(), environ);
  if (problem == 0) return child;
  const std::string text = "cannot run " + arguments[0] + ": " + std::strerror(problem);
  return problem == ENOENT ? not_found(text) : io_error(text);
}

/// Everything the child writes until it closes its end; only the last part is kept.
std::string read_to_end(int input) {
  std::string output;
  std::array<char, 4096> chunk;
  while (true) {
    const ssize_t got = ::read(input, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return output;
    output.append(chunk.data(), static_cast<std::size_t>(got));
    if (output.size() > kMaxProgramOutput) output.erase(0, output.size() - kMaxProgramOutput);
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string ProgramOutcome::last_line() const {
  const std::string_view all(output);
  const std::string_view text = all.substr(0, all.find_last_not_of(" \r\n\t") + 1);
  return std::string(text.substr(text.find_last_of('\n') + 1));  // npos + 1 is 0: the only line
}

Result<ProgramOutcome> run_program(const std::vector<std::string>& arguments,
                                   const std::filesystem::path& folder) {
  check(!arguments.empty(), "run_program needs a program");
  std::array<int, 2> pipe_ends{};
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    return io_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const auto child = spawn(arguments, folder, pipe_ends[1]);
  ::close(pipe_ends[1]);
  ProgramOutcome outcome;
  if (child.ok()) {
    outcome.output = read_to_end(pipe_ends[0]);
    outcome.exit_code = wait_for(*child);
  }
  ::close(pipe_ends[0]);
  if (!child.ok()) return child.error();
  return outcome;
}

}  // namespace aflguard
