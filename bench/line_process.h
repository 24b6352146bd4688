#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/system/process.h"

namespace aflguard::bench {

/// A child process that answers one line per line. Ends with its parent's interest: destroying it closes its
/// standard input and waits.
class LineProcess final {
 public:
  /// kNotFound when there is no arguments[0] on the PATH. Its standard error is discarded.
  [[nodiscard]] static Result<LineProcess> start(const std::vector<std::string>& arguments);
  LineProcess(LineProcess&&) noexcept = default;
  LineProcess& operator=(LineProcess&&) = delete;
  ~LineProcess();

  [[nodiscard]] Status send(const std::string& line);
  /// The next line without its end; kUnavailable when the process has ended.
  [[nodiscard]] Result<std::string> receive();

  [[nodiscard]] int pid() const { return process_.pid(); }

 private:
  struct CloseStream {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  using Stream = std::unique_ptr<std::FILE, CloseStream>;

  LineProcess(Process process, Stream to, Stream from)
      : process_(std::move(process)), to_(std::move(to)), from_(std::move(from)) {}
  Process process_;
  Stream to_;
  Stream from_;
};

}  // namespace aflguard::bench
