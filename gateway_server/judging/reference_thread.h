#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core/aggregation/reference_update.h"
#include "core/base/log.h"
#include "gateway_server/judging/judge_thread.h"
#include "gateway_server/judging/model_snapshot.h"

namespace aflguard::gateway {

/// Computes reference updates beside the judging, one at a time: updates are compared with the one before
/// until the next is ready.
class ReferenceThread final {
 public:
  ReferenceThread(ReferenceSource& source, std::function<void(ReferenceReady)> ready, LogSink& log);
  ~ReferenceThread();

  /// Answered through `ready`, in order, one request at a time.
  void request(SharedModel model, std::uint64_t due_since);
  void stop();

 private:
  void run();
  ReferenceSource& source_;
  const std::function<void(ReferenceReady)> ready_;
  LogSink& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  SharedModel wanted_;  ///< null: nothing to do
  std::uint64_t due_since_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace aflguard::gateway
