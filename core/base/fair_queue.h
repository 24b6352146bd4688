#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace aflguard {

struct FairQueueLimits {
  std::size_t max_items = SIZE_MAX;
  std::size_t max_cost = SIZE_MAX;  ///< in the unit that push() is given (bytes, as a rule)
  std::size_t max_items_per_key = SIZE_MAX;
  std::size_t max_cost_per_key = SIZE_MAX;
};

/// A queue between threads in which every key takes its turn: pop gives one item of each key that has some,
/// in the order in which the keys came, and again. Items of one key keep their order. Who pushes much waits
/// behind itself: beyond the limits of a key its own oldest items go, and no other's.
template <typename T>
class FairQueue final {
 public:
  explicit FairQueue(const FairQueueLimits& limits) : limits_(limits) {}
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  enum class Pushed {
    kTaken,
    kTookOldest,  ///< taken, and older items of this key had to go
    kFull,        ///< the queue as a whole is full, or this item is beyond what a key may have
    kClosed,
  };

  /// When the queue is full, waits for room until `deadline`.
  [[nodiscard]] Pushed push(std::string_view key, T item, std::size_t cost = 0,
                            std::chrono::steady_clock::time_point deadline = {}) {
    bool made_room = false;
    {
      std::unique_lock lock(mutex_);
      if (cost > limits_.max_cost_per_key) return Pushed::kFull;
      made_room = make_room_in_lane(key, cost);
      if (!closed_ && !fits(cost)) taken_.wait_until(lock, deadline, [&] { return closed_ || fits(cost); });
      if (closed_) return Pushed::kClosed;
      if (!fits(cost)) return Pushed::kFull;
      auto lane = lanes_.find(key);
      if (lane == lanes_.end()) {
        lane = lanes_.emplace(std::string(key), Lane{}).first;
        turns_.push_back(lane);
      }
      lane->second.items.emplace_back(std::move(item), cost);
      lane->second.cost += cost;
      cost_ += cost;
      ++size_;
    }
    pushed_.notify_one();
    return made_room ? Pushed::kTookOldest : Pushed::kTaken;
  }

  /// Comes out before everything that push() took, whatever the limits say: for events whose number is
  /// bounded elsewhere. Lost when closed.
  void push_first(T item) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      first_.push_back(std::move(item));
    }
    pushed_.notify_one();
  }

  /// The next item, if there is one now.
  [[nodiscard]] std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    return take();
  }

  /// Waits until there is an item, `deadline` has passed or the queue is closed; what is left in a closed
  /// queue still comes out.
  [[nodiscard]] std::optional<T> pop_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    pushed_.wait_until(lock, deadline, [this] { return !first_.empty() || size_ > 0 || closed_; });
    return take();
  }

  /// From now on nothing is taken and waiting ends.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    pushed_.notify_all();
    taken_.notify_all();
  }

  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return first_.size() + size_;
  }
  [[nodiscard]] std::size_t cost() const {
    const std::lock_guard lock(mutex_);
    return cost_;
  }

 private:
  struct Lane {
    std::deque<std::pair<T, std::size_t>> items;
    std::size_t cost = 0;
  };
  using Lanes = std::map<std::string, Lane, std::less<>>;

  [[nodiscard]] bool fits(std::size_t cost) const {
    return size_ < limits_.max_items && cost <= limits_.max_cost - cost_;
  }

  /// True when something had to go. A lane that is left empty keeps its turn for the item that follows.
  [[nodiscard]] bool make_room_in_lane(std::string_view key, std::size_t cost) {
    const auto found = lanes_.find(key);
    if (found == lanes_.end()) return false;
    Lane& lane = found->second;
    bool made_room = false;
    while (!lane.items.empty() &&
           (lane.items.size() >= limits_.max_items_per_key || cost > limits_.max_cost_per_key - lane.cost)) {
      drop_front(lane);
      made_room = true;
    }
    return made_room;
  }

  void drop_front(Lane& lane) {
    lane.cost -= lane.items.front().second;
    cost_ -= lane.items.front().second;
    lane.items.pop_front();
    --size_;
  }

  [[nodiscard]] std::optional<T> take() {
    if (!first_.empty()) {
      std::optional<T> item(std::move(first_.front()));
      first_.pop_front();
      return item;
    }
    while (!turns_.empty()) {
      const auto lane = turns_.front();
      turns_.pop_front();
      if (lane->second.items.empty()) {  // its last item went, and the one that was to follow did not fit
        lanes_.erase(lane);
        continue;
      }
      std::optional<T> item(std::move(lane->second.items.front().first));
      drop_front(lane->second);
      if (lane->second.items.empty()) {
        lanes_.erase(lane);
      } else {
        turns_.push_back(lane);
      }
      taken_.notify_one();
      return item;
    }
    return std::nullopt;
  }

  const FairQueueLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable pushed_;
  std::condition_variable taken_;
  std::deque<T> first_;
  Lanes lanes_;
  std::deque<typename Lanes::iterator> turns_;
  std::size_t size_ = 0;
  std::size_t cost_ = 0;
  bool closed_ = false;
};

}  // namespace aflguard
