#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "core/kernels/workers.h"

namespace aflguard::kernels {

/// The calling thread and some that wait, without spinning, for work. Run from one thread at a time.
class WorkerThreads final : public Workers {
 public:
  /// Starts count - 1 threads; they end with this object.
  explicit WorkerThreads(std::size_t count);
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads() override;

  [[nodiscard]] std::size_t count() const override { return threads_.size() + 1; }
  void run(void (*work)(void* data, std::size_t worker), void* data) override;

 private:
  void serve(std::size_t worker);

  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  void (*work_)(void*, std::size_t) = nullptr;
  void* data_ = nullptr;
  std::size_t round_ = 0;
  std::size_t busy_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;  // last: they use what stands above
};

}  // namespace aflguard::kernels
