#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/system/process.h"

namespace aflguard {

/// Programs that run beside this one and end with it, however it ends: also when it is killed. Each is
/// in its own process group, so that Ctrl-C reaches this program alone, which then stops them in order.
class ChildGroup final {
 public:
  /// `timeout`: how long a program has to end after SIGTERM before it is killed.
  explicit ChildGroup(std::chrono::milliseconds timeout) : timeout_(timeout) {}
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;
  ~ChildGroup() { stop(); }

  /// Starts arguments[0] (found through PATH) in `folder`; what it writes is appended to `log`. Call it from
  /// the main thread: children end with the thread that started them. kNotFound when there is no such
  /// program.
  [[nodiscard]] Status start(const std::string& name, const std::vector<std::string>& arguments,
                             const std::filesystem::path& folder, const std::filesystem::path& log);

  /// kInternal when a program that was not told to has ended: which, how, and the last lines of its log.
  [[nodiscard]] Status check_running();

  /// Of the program that was started last; below 0 when it has ended, or none was.
  [[nodiscard]] pid_t pid() const { return children_.empty() ? -1 : children_.back().process.pid(); }

  /// Stops everything with SIGTERM, all at once, and waits for it; what does not end in time is killed.
  void stop();

 private:
  struct Child {
    std::string name;
    std::filesystem::path log;
    Process process;
    bool reported = false;  ///< that it has ended
  };
  std::chrono::milliseconds timeout_;
  std::vector<Child> children_;
};

/// The last `lines` lines of a log, without facts for programs and empty ones, joined by " | " for a one-line
/// error; "(empty)" when there are none.
[[nodiscard]] std::string last_lines(const std::filesystem::path& log, std::size_t lines);

}  // namespace aflguard
