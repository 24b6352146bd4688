#include "bench/offline/local_bus.h"

namespace aflguard::bench {
namespace {

/// The last level of a topic that every device shares, or that has none of a device.
std::string kind_of(const std::string& topic) {
  const std::string last = topic.substr(topic.rfind('/') + 1);
  return last == "verdict" || last == "events" ? last : "other";
}

}  // namespace

Status LocalBus::start() {
  push(BusConnected{"no network"});
  return {};
}

Result<PublishId> LocalBus::publish(const Message& message) {
  PublishId id = 0;
  {
    const std::lock_guard lock(mutex_);
    ++published_[kind_of(message.topic)];
    id = next_id_++;
    if (!message.best_effort) events_.emplace_back(BusPublished{id});
  }
  changed_.notify_all();
  return id;
}

std::optional<BusEvent> LocalBus::next_event(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return !events_.empty() || stopped_; });
  if (events_.empty()) return std::nullopt;
  BusEvent event = std::move(events_.front());
  events_.pop_front();
  return event;
}

void LocalBus::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

BusCounters LocalBus::counters() const {
  const std::lock_guard lock(mutex_);
  return {.received = received_};
}

bool LocalBus::wait_for(std::string_view kind, std::size_t count,
                        std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] {
    const auto found = published_.find(kind);
    return found != published_.end() && found->second >= count;
  });
}

void LocalBus::push(BusEvent event) {
  {
    const std::lock_guard lock(mutex_);
    if (std::holds_alternative<BusReceived>(event)) ++received_;
    events_.push_back(std::move(event));
  }
  changed_.notify_all();
}

}  // namespace aflguard::bench
