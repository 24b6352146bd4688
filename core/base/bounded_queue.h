#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace aflguard {

/// A queue between threads that never grows past its limits: `max_items`, and `max_cost` in the unit that
/// push() is given (bytes, as a rule). Pushing never waits; what does not fit is refused and counted.
template <typename T>
class BoundedQueue final {
 public:
  BoundedQueue(std::size_t max_items, std::size_t max_cost) : max_items_(max_items), max_cost_(max_cost) {}
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// False, and one more refused(), when the queue is closed or the item does not fit.
  [[nodiscard]] bool push(T item, std::size_t cost = 0) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || items_.size() >= max_items_ || cost > max_cost_ - cost_) {
        ++refused_;
        return false;
      }
      cost_ += cost;
      items_.emplace_back(std::move(item), cost);
    }
    changed_.notify_one();
    return true;
  }

  /// Takes the item whatever the limits say: for events whose number is bounded elsewhere. Lost when closed.
  void push_always(T item) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      items_.emplace_back(std::move(item), 0);
    }
    changed_.notify_one();
  }

  /// The oldest item, if there is one now.
  [[nodiscard]] std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    return take();
  }

  /// Waits until there is an item, `deadline` has passed or the queue is closed; what is left in a closed
  /// queue still comes out.
  [[nodiscard]] std::optional<T> pop_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [this] { return !items_.empty() || closed_; });
    return take();
  }

  /// From now on push() refuses and waiting ends.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  [[nodiscard]] std::size_t cost() const {
    const std::lock_guard lock(mutex_);
    return cost_;
  }
  [[nodiscard]] std::size_t refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

 private:
  [[nodiscard]] std::optional<T> take() {
    if (items_.empty()) return std::nullopt;
    auto [item, cost] = std::move(items_.front());
    items_.pop_front();
    cost_ -= cost;
    return std::optional<T>(std::move(item));
  }

  const std::size_t max_items_;
  const std::size_t max_cost_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<T, std::size_t>> items_;
  std::size_t cost_ = 0;
  std::size_t refused_ = 0;
  bool closed_ = false;
};

}  // namespace aflguard
