#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "core/base/result.h"
#include "core/system/file_descriptor.h"
#include "core/system/process.h"
#include "fleet/monitor/frame.h"

namespace aflguard::bench {

/// A program on a pseudo-terminal, used as from a keyboard. It ends with this object.
class TerminalProcess final {
 public:
  /// kIo when no terminal can be had, kNotFound when there is no such program.
  [[nodiscard]] static Result<TerminalProcess> start(const std::vector<std::string>& arguments,
                                                     view::ScreenSize size);
  TerminalProcess(TerminalProcess&&) noexcept = default;
  TerminalProcess& operator=(TerminalProcess&&) = delete;
  ~TerminalProcess();

  [[nodiscard]] Status type(const std::string& keys) const;
  using Take = std::function<void(std::string_view)>;
  /// Hands over what is written within `span`. kUnavailable when the program has ended.
  [[nodiscard]] Status read_for(const Take& take, std::chrono::steady_clock::duration span) const;
  /// Hands over what is written until `enough` says so. kUnavailable when that takes longer than `timeout`
  /// or the program has ended.
  [[nodiscard]] Status read_until(const Take& take, const std::function<bool()>& enough,
                                  std::chrono::steady_clock::duration timeout) const;
  [[nodiscard]] pid_t pid() const { return process_.pid(); }

 private:
  TerminalProcess(Process process, FileDescriptor terminal)
      : process_(std::move(process)), terminal_(std::move(terminal)) {}
  /// False when `deadline` came first.
  [[nodiscard]] Result<bool> read_once(const Take& take,
                                       std::chrono::steady_clock::time_point deadline) const;

  Process process_;
  FileDescriptor terminal_;  ///< our end
};

}  // namespace aflguard::bench
