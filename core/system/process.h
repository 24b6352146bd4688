#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace aflguard {

/// Which signals reach a program together with this one.
enum class ProcessGroup : std::uint8_t {
  kShared,       ///< those of the terminal: Ctrl-C ends both
  kOwn,          ///< none
  kOwnSession,   ///< none, and it goes on when the terminal is gone
  kOwnTerminal,  ///< a session whose terminal is its standard input
};

inline constexpr int kDevNull = -1;

struct ProcessOptions {
  std::vector<std::string> arguments;                              ///< the program first, found through PATH
  std::filesystem::path folder{};                                  ///< empty: this process's own
  std::vector<std::pair<std::string, std::string>> environment{};  ///< set on top of this process's own
  /// Descriptors of this process that become the program's standard files. It gets no others.
  int input = kDevNull;
  int output = kDevNull;
  int error = kDevNull;
  ProcessGroup group = ProcessGroup::kShared;
  /// The system kills it when the thread that started it ends, also when that is killed.
  bool ends_with_us = false;
  /// Called when the process exists and its program has not begun. When it fails, the program never begins,
  /// and start() returns that error.
  std::function<Status(pid_t)> before_start{};
};

/// How a program ended.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  ///< that ended it; 0: it ended by itself

  /// One number, as shells count: 128 + signal.
  [[nodiscard]] int shell_code() const { return signal != 0 ? 128 + signal : exit_code; }
  friend bool operator==(const ProcessEnd&, const ProcessEnd&) = default;
};

/// A program that this one started. Destroyed while it runs, it is killed, with its group if that is its own.
class Process final {
 public:
  /// Returns when the program runs. kNotFound when there is no such program or folder, kIo when it cannot be
  /// run or the system refuses.
  [[nodiscard]] static Result<Process> start(const ProcessOptions& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  ~Process();

  /// Below 0: it has ended, and its number may belong to another process.
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// False once it has ended.
  [[nodiscard]] bool running() { return !wait_for(std::chrono::milliseconds(0)); }
  /// How it ended; nothing until that was noticed.
  [[nodiscard]] const std::optional<ProcessEnd>& ended() const { return end_; }

  /// Waits for its end.
  ProcessEnd wait();
  /// The same, and nothing when the time is over.
  [[nodiscard]] std::optional<ProcessEnd> wait_for(std::chrono::milliseconds timeout);
  [[nodiscard]] std::optional<ProcessEnd> wait_until(std::chrono::steady_clock::time_point deadline);

  /// To the program alone. Nothing happens when it has ended.
  void signal(int number) const;
  /// SIGKILL, to its group too if that is its own; waits for its end.
  ProcessEnd kill();
  /// SIGTERM; kill() when it has not ended in time.
  ProcessEnd stop(std::chrono::milliseconds timeout);

  /// Lets it go on without this object: its number.
  [[nodiscard]] pid_t release() { return std::exchange(pid_, -1); }

 private:
  Process(pid_t pid, bool own_group) : pid_(pid), own_group_(own_group) {}
  bool reap(int flags);

  pid_t pid_;
  bool own_group_;
  std::optional<ProcessEnd> end_;
};

/// This process becomes that program, which sees itself called by the name `called`. Returns only when it
/// cannot.
[[nodiscard]] Status become_program(const std::filesystem::path& program, const std::string& called,
                                    const std::vector<std::string>& arguments);

}  // namespace aflguard
