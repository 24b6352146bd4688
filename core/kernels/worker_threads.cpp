#include "core/kernels/worker_threads.h"

namespace aflguard::kernels {

WorkerThreads::WorkerThreads(std::size_t count) {
  for (std::size_t worker = 1; worker < count; ++worker)
    threads_.emplace_back([this, worker] { serve(worker); });
}

WorkerThreads::~WorkerThreads() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerThreads::run(void (*work)(void* data, std::size_t worker), void* data) {
  {
    const std::scoped_lock lock(mutex_);
    work_ = work;
    data_ = data;
    busy_ = threads_.size();
    ++round_;
  }
  begin_.notify_all();
  work(data, 0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return busy_ == 0; });
}

void WorkerThreads::serve(std::size_t worker) {
  std::size_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    work_(data_, worker);
    lock.lock();
    if (--busy_ == 0) end_.notify_one();
  }
}

}  // namespace aflguard::kernels
