#pragma once

#include <csignal>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "core/system/file_descriptor.h"

namespace aflguard::view {

/// Signals of a terminal, and those that ask this program to end, as something to poll. Make it before any
/// thread: threads inherit that the signals are blocked.
class ScreenSignals final {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ScreenSignals>> install();
  ScreenSignals(const ScreenSignals&) = delete;
  ScreenSignals& operator=(const ScreenSignals&) = delete;
  ~ScreenSignals();

  /// Readable while a signal waits.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// The next signal that came, without waiting.
  [[nodiscard]] std::optional<int> next() const;

 private:
  ScreenSignals(FileDescriptor descriptor, const sigset_t& before)
      : descriptor_(std::move(descriptor)), before_(before) {}
  FileDescriptor descriptor_;
  sigset_t before_;
};

}  // namespace aflguard::view
