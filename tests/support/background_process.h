#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/system/process.h"

namespace aflguard::testing {

/// A program that runs beside a test, and not a moment longer. It also ends when the test itself is killed.
class BackgroundProcess final {
 public:
  /// Starts arguments[0] (found through PATH) in `folder`; its output goes to `log`. Fails the test if it
  /// cannot.
  BackgroundProcess(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                    const std::filesystem::path& log);
  BackgroundProcess(const BackgroundProcess&) = delete;
  BackgroundProcess& operator=(const BackgroundProcess&) = delete;

  /// Sends the signal and waits until the program is gone. Its exit code, 128 + signal number when a signal
  /// ended it; -1 when it was gone already.
  int end(int signal);
  /// False once it has ended by itself.
  [[nodiscard]] bool running() { return process_.running(); }
  /// True when it has ended by itself before the time is over.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds timeout) {
    return process_.wait_for(timeout).has_value();
  }
  /// The exit code of a program that has ended by itself, as of end(); -1 while it runs.
  [[nodiscard]] int exit_code() const { return process_.ended() ? process_.ended()->shell_code() : -1; }
  [[nodiscard]] pid_t pid() const { return process_.pid(); }

 private:
  Process process_;
};

}  // namespace aflguard::testing
