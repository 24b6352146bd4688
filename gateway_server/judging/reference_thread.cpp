#include "gateway_server/judging/reference_thread.h"

#include <ctime>
#include <utility>

namespace aflguard::gateway {
namespace {

/// Without the time that a busy machine lets us wait.
std::chrono::nanoseconds thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

ReferenceThread::ReferenceThread(ReferenceSource& source, std::function<void(ReferenceReady)> ready,
                                 LogSink& log)
    : source_(source), ready_(std::move(ready)), log_(log), thread_([this] { run(); }) {}

ReferenceThread::~ReferenceThread() {
  stop();
}

void ReferenceThread::request(SharedModel model, std::uint64_t due_since) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = std::move(model);
    due_since_ = due_since;
  }
  changed_.notify_one();
}

void ReferenceThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void ReferenceThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || wanted_ != nullptr; });
    if (stopping_) return;
    const SharedModel model = std::exchange(wanted_, nullptr);
    ReferenceReady ready;
    ready.due_since = due_since_;
    lock.unlock();
    const auto begin = thread_cpu_time();
    ReferenceUpdate reference;
    if (const Status computed = source_.compute(model->parameters, model->version, reference);
        computed.ok()) {
      ready.reference = std::move(reference);
    } else {
      log_.error("the reference update was not computed, the one before stays: " + computed.error().message);
    }
    ready.cost = thread_cpu_time() - begin;
    ready_(std::move(ready));
    lock.lock();
  }
}

}  // namespace aflguard::gateway
