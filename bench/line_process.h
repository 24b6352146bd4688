#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::bench {

/// A child process that answers one line per line. Ends with its parent's interest: destroying it closes its
/// standard input and waits.
class LineProcess final {
 public:
  /// kNotFound when arguments[0] (found through PATH) cannot be run. Its standard error is discarded.
  [[nodiscard]] static Result<LineProcess> start(const std::vector<std::string>& arguments);
  LineProcess(LineProcess&& other) noexcept;
  LineProcess& operator=(LineProcess&&) = delete;
  LineProcess(const LineProcess&) = delete;
  ~LineProcess();

  [[nodiscard]] Status send(const std::string& line);
  /// The next line without its end; kUnavailable when the process has ended.
  [[nodiscard]] Result<std::string> receive();

  [[nodiscard]] int pid() const { return child_; }

 private:
  LineProcess(int child, std::FILE* to, std::FILE* from) : child_(child), to_(to), from_(from) {}
  int child_;
  std::FILE* to_;
  std::FILE* from_;
};

}  // namespace aflguard::bench
