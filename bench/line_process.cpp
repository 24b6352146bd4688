#include "bench/line_process.h"

#include <csignal>

#include "core/system/file_descriptor.h"

namespace aflguard::bench {

Result<LineProcess> LineProcess::start(const std::vector<std::string>& arguments) {
  TRY(Pipe to_child, make_pipe());
  TRY(Pipe from_child, make_pipe());
  // A child that died must be an error of send(), not the end of this process.
  ::signal(SIGPIPE, SIG_IGN);
  TRY(Process process,
      Process::start(
          {.arguments = arguments, .input = to_child.read_end.get(), .output = from_child.write_end.get()}));
  return LineProcess(std::move(process), Stream(::fdopen(to_child.write_end.release(), "w")),
                     Stream(::fdopen(from_child.read_end.release(), "r")));
}

LineProcess::~LineProcess() {
  to_.reset();  // the end of its input tells it to end
  from_.reset();
  process_.wait();
}

Status LineProcess::send(const std::string& line) {
  if (std::fprintf(to_.get(), "%s\n", line.c_str()) < 0 || std::fflush(to_.get()) != 0) {
    return unavailable("the child process has ended");
  }
  return {};
}

Result<std::string> LineProcess::receive() {
  std::string line;
  for (int c = std::fgetc(from_.get()); c != '\n'; c = std::fgetc(from_.get())) {
    if (c == EOF) return unavailable("the child process has ended");
    line += static_cast<char>(c);
  }
  return line;
}

}  // namespace aflguard::bench
