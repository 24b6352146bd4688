#include "core/system/stop_signal.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <unistd.h>

#include "core/base/check.h"
#include "core/system/file_descriptor.h"

namespace aflguard {
namespace {

/// Where the handler writes: the only thing it may touch.
std::atomic<int> write_end{-1};
static_assert(std::atomic<int>::is_always_lock_free, "signal handlers may use lock-free atomics only");

constexpr char kSignal = 's';
constexpr char kReload = 'r';
constexpr char kEnd = 'e';

void on_signal(int number) {
  const int saved = errno;
  const int fd = write_end.load();
  if (fd >= 0) (void)!::write(fd, number == SIGHUP ? &kReload : &kSignal, 1);
  errno = saved;
}

}  // namespace

struct StopSignal::Handlers {
  Handlers() = default;
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;
  ~Handlers() {
    if (installed) {
      ::sigaction(SIGTERM, &old_term, nullptr);
      ::sigaction(SIGINT, &old_int, nullptr);
      ::sigaction(SIGPIPE, &old_pipe, nullptr);
      if (reloads) ::sigaction(SIGHUP, &old_hangup, nullptr);
    }
    write_end.store(-1);
  }

  [[nodiscard]] Status install(bool with_reload) {
    TRY(pipe, make_pipe());
    write_end.store(pipe.write_end.get());
    struct sigaction ours {};
    ours.sa_handler = on_signal;
    ours.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
    sigemptyset(&ours.sa_mask);
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    installed = ::sigaction(SIGTERM, &ours, &old_term) == 0 && ::sigaction(SIGINT, &ours, &old_int) == 0 &&
                ::sigaction(SIGPIPE, &ignored, &old_pipe) == 0;
    ours.sa_flags = SA_RESTART;
    reloads = installed && with_reload && ::sigaction(SIGHUP, &ours, &old_hangup) == 0;
    if (!installed || reloads != with_reload)
      return io_error(std::string("cannot handle signals: ") + std::strerror(errno));
    return {};
  }

  Pipe pipe;  ///< outlives the handlers, which write to it
  bool installed = false;
  bool reloads = false;
  struct sigaction old_term {};
  struct sigaction old_int {};
  struct sigaction old_pipe {};
  struct sigaction old_hangup {};
};

Result<std::unique_ptr<StopSignal>> StopSignal::install(std::function<void()> on_stop,
                                                        std::function<void()> on_reload) {
  check(write_end.load() < 0, "one StopSignal at a time");
  auto handlers = std::make_unique<Handlers>();
  TRY_STATUS(handlers->install(on_reload != nullptr));
  return std::unique_ptr<StopSignal>(
      new StopSignal(std::move(handlers), std::move(on_stop), std::move(on_reload)));
}

StopSignal::StopSignal(std::unique_ptr<Handlers> handlers, std::function<void()> on_stop,
                       std::function<void()> on_reload)
    : handlers_(std::move(handlers)), on_stop_(std::move(on_stop)), on_reload_(std::move(on_reload)) {
  waiter_ = std::thread([this, fd = handlers_->pipe.read_end.get()] { wait(fd); });
}

void StopSignal::wait(int fd) {
  while (true) {
    char what = kEnd;
    while (::read(fd, &what, 1) < 0 && errno == EINTR) {
    }
    if (what == kReload) {
      on_reload_();
      continue;
    }
    if (what != kSignal) return;
    requested_.store(true);
    on_stop_();
    return;
  }
}

StopSignal::~StopSignal() {
  (void)!::write(handlers_->pipe.write_end.get(), &kEnd, 1);
  waiter_.join();
}

}  // namespace aflguard
