#pragma once

#include <functional>
#include <sys/types.h>

namespace aflguard::testing {

/// A part of a test that runs in a separate process, which is a copy of the test's: for clients whose
/// library shares threads between all clients of a process. To be made before the test itself starts any
/// thread.
class ForkedProcess final {
 public:
  /// Runs `body` in the copy, which ends with it and, like BackgroundProcess, not after the test. A failed
  /// assertion in there ends it with exit code 1.
  explicit ForkedProcess(const std::function<void()>& body);
  ForkedProcess(ForkedProcess&& other) noexcept;
  ForkedProcess& operator=(ForkedProcess&&) = delete;
  /// Kills it if it still runs.
  ~ForkedProcess();

  [[nodiscard]] bool running();
  /// Waits for the end: the exit code, or -1 when a signal was the end.
  [[nodiscard]] int wait();
  void kill();

 private:
  void note_end(int status);
  pid_t pid_ = -1;
  int exit_code_ = -1;
};

}  // namespace aflguard::testing
