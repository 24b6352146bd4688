#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "gateway_server/judging/gateway_store.h"
#include "gateway_server/judging/model_snapshot.h"

namespace aflguard::gateway {

/// Measures the newest model now and then, beside everything else.
class EvaluationThread final {
 public:
  using Measure = std::function<Result<double>(std::span<const float> parameters)>;

  EvaluationThread(Measure measure, std::chrono::duration<double> interval,
                   std::function<void(const EvaluationRecord&)> done, const Clock& clock, LogSink& log);
  ~EvaluationThread();

  /// Measures in another way, or, where `measure` is empty, not at all. From any thread.
  void change(Measure measure, std::chrono::duration<double> interval);
  /// The model to measure next. From any thread.
  void offer(SharedModel model);
  void stop();

 private:
  void run();
  const std::function<void(const EvaluationRecord&)> done_;
  const Clock& clock_;
  LogSink& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Measure measure_;  ///< empty: nothing is measured
  std::chrono::duration<double> interval_;
  SharedModel newest_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace aflguard::gateway
