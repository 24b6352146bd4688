#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "core/base/result.h"

namespace aflguard {

/// Turns SIGTERM and SIGINT into a call on an ordinary thread, where locks and allocation are allowed. The
/// first signal is taken; a second one ends the process at once, as if it were not handled. One at a time per
/// process; SIGPIPE is ignored from then on.
class StopSignal final {
 public:
  /// `on_stop` is called at most once, on a thread of this object, e.g. `[&] { bus.wake(); }`. With
  /// `on_reload`, SIGHUP calls that on the same thread, each time until the stop; signals that come while it
  /// runs may be taken together. Without it, SIGHUP does what it did before.
  [[nodiscard]] static Result<std::unique_ptr<StopSignal>> install(std::function<void()> on_stop,
                                                                   std::function<void()> on_reload = {});
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  /// The signals do again what they did before.
  ~StopSignal();

  /// True from just before `on_stop` is called. From any thread.
  [[nodiscard]] bool requested() const { return requested_.load(); }

 private:
  struct Handlers;
  StopSignal(std::unique_ptr<Handlers> handlers, std::function<void()> on_stop,
             std::function<void()> on_reload);
  void wait(int fd);

  std::unique_ptr<Handlers> handlers_;
  std::function<void()> on_stop_;
  std::function<void()> on_reload_;
  std::atomic<bool> requested_{false};
  std::thread waiter_;
};

}  // namespace aflguard
