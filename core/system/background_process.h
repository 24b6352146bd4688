#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/system/process.h"

namespace aflguard {

/// A program that runs beside this one, and not a moment longer: it ends with this object, and when this
/// process is killed.
class BackgroundProcess final {
 public:
  /// Starts arguments[0] (found through PATH) in `folder`; its output is added to the file `log`, its input
  /// is empty. The thread that calls this must live as long as the program is wanted: the system ends it with
  /// that thread. kNotFound when there is no such program, kIo when it cannot be started.
  [[nodiscard]] static Result<BackgroundProcess> start(const std::vector<std::string>& arguments,
                                                       const std::filesystem::path& folder,
                                                       const std::filesystem::path& log);

  /// False once it has ended by itself.
  [[nodiscard]] bool running() { return process_.running(); }
  /// Sends the signal and waits until the program is gone. Nothing happens to one that is gone already.
  void end(int signal);
  [[nodiscard]] pid_t pid() const { return process_.pid(); }

 private:
  explicit BackgroundProcess(Process process) : process_(std::move(process)) {}
  Process process_;
};

}  // namespace aflguard
