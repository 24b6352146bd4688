#include "core/system/child_process.h"

#include <array>
#include <cerrno>
#include <string_view>
#include <unistd.h>

#include "core/system/file_descriptor.h"
#include "core/system/process.h"

namespace aflguard {
namespace {

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

}  // namespace

std::string ProgramOutcome::last_line() const {
  const std::string_view all(output);
  const std::string_view text = all.substr(0, all.find_last_not_of(" \r\n\t") + 1);
  return std::string(text.substr(text.find_last_of('\n') + 1));  // npos + 1 is 0: the only line
}

Result<ProgramOutcome> run_program(const std::vector<std::string>& arguments,
                                   const std::filesystem::path& folder) {
  TRY(Pipe pipe, make_pipe());
  TRY(Process process, Process::start({.arguments = arguments,
                                       .folder = folder,
                                       .output = pipe.write_end.get(),
                                       .error = pipe.write_end.get()}));
  pipe.write_end.close();
  ProgramOutcome outcome;
  outcome.output = read_to_end(pipe.read_end.get());
  outcome.exit_code = process.wait().shell_code();
  return outcome;
}

}  // namespace aflguard
