#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/base/result.h"

namespace aflguard {

/// A program that runs beside this one, and not a moment longer: it ends with this object, and when this
/// process is killed.
class BackgroundProcess final {
 public:
  /// Starts arguments[0] (found through PATH) in `folder`; its output is added to the file `log`, its input
  /// is empty. The thread that calls this must live as long as the program is wanted: the system ends it with
  /// that thread. kIo when no process can be made; a program that cannot be run ends at once with code 127.
  [[nodiscard]] static Result<BackgroundProcess> start(const std::vector<std::string>& arguments,
                                                       const std::filesystem::path& folder,
                                                       const std::filesystem::path& log);
  BackgroundProcess(BackgroundProcess&& other) noexcept;
  BackgroundProcess& operator=(BackgroundProcess&& other) noexcept;
  BackgroundProcess(const BackgroundProcess&) = delete;
  ~BackgroundProcess();

  /// False once it has ended by itself.
  [[nodiscard]] bool running();
  /// Sends the signal and waits until the program is gone. Nothing happens to one that is gone already.
  void end(int signal);
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  explicit BackgroundProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;  ///< below 0: gone
};

}  // namespace aflguard
