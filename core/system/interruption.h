#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "core/base/result.h"
#include "core/system/stop_signal.h"

namespace aflguard {

/// Ctrl-C, as something to wait for.
class Interruption final {
 public:
  [[nodiscard]] Status install() {
    TRY(signal_, StopSignal::install([this] { wake_.notify_all(); }));
    return {};
  }
  [[nodiscard]] bool requested() const { return signal_->requested(); }
  /// True when it came before the time was over.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, time, [this] { return requested(); });
    return requested();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::unique_ptr<StopSignal> signal_;
};

}  // namespace aflguard
