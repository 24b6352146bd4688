#include "gateway_server/judging/evaluation_thread.h"

#include <utility>

namespace aflguard::gateway {

EvaluationThread::EvaluationThread(Measure measure, std::chrono::duration<double> interval,
                                   std::function<void(const EvaluationRecord&)> done, const Clock& clock,
                                   LogSink& log)
    : done_(std::move(done)),
      clock_(clock),
      log_(log),
      measure_(std::move(measure)),
      interval_(interval),
      thread_([this] { run(); }) {}

EvaluationThread::~EvaluationThread() {
  stop();
}

void EvaluationThread::change(Measure measure, std::chrono::duration<double> interval) {
  const std::lock_guard lock(mutex_);
  measure_ = std::move(measure);
  interval_ = interval;
}

void EvaluationThread::offer(SharedModel model) {
  {
    const std::lock_guard lock(mutex_);
    newest_ = std::move(model);
  }
  changed_.notify_one();
}

void EvaluationThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void EvaluationThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || newest_ != nullptr; });
    if (stopping_) return;
    const SharedModel model = std::exchange(newest_, nullptr);
    const Measure measure = measure_;
    if (!measure) continue;
    lock.unlock();
    const auto error = measure(model->parameters);
    if (error.ok()) {
      const auto now =
          std::chrono::duration_cast<std::chrono::milliseconds>(clock_.wall().time_since_epoch());
      done_({.iteration = model->iteration,
             .version = model->version,
             .test_error = *error,
             .time_ms = now.count()});
    } else {
      log_.warning("the model was not evaluated: " + error.error().message);
    }
    lock.lock();
    changed_.wait_for(lock, interval_, [this] { return stopping_; });
  }
}

}  // namespace aflguard::gateway
