#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/transport/message_bus.h"

namespace aflguard {

/// What can happen to a message on each of its two ways, to the broker and from it.
struct LinkFaults {
  std::chrono::microseconds shortest_delay{0};
  std::chrono::microseconds longest_delay{0};  ///< drawn for each message, so messages overtake each other
  double loss = 0;                             ///< acknowledged, and then not delivered
  double duplication = 0;                      ///< delivered twice
};

/// A broker and its network in one thread, in virtual time: the same seed gives the same run. Everything that
/// brokers do to messages at QoS 1 happens here more often. Not safe from several threads.
class InProcessBroker final {
 public:
  using Duration = std::chrono::microseconds;

  explicit InProcessBroker(std::uint64_t seed, const LinkFaults& faults = {});
  ~InProcessBroker();
  InProcessBroker(const InProcessBroker&) = delete;
  InProcessBroker& operator=(const InProcessBroker&) = delete;

  /// A client named `id`, which no other that runs has; it must not outlive the broker. Its next_event()
  /// never waits: it gives what has happened by now.
  [[nodiscard]] std::unique_ptr<MessageBus> client(const std::string& id, std::optional<LastWill> will = {});

  /// Everything due within the next `span` happens, in order.
  void advance(Duration span);
  /// Everything that is under way arrives, however long it takes.
  void settle();
  [[nodiscard]] Duration now() const { return now_; }

  /// The link of that client breaks: what is on its way to and from it is lost, its last will is published.
  void cut(const std::string& id);
  /// ... and works again; the client connects and subscribes by itself.
  void restore(const std::string& id);
  /// The broker loses everything it holds except retained messages, as one does that is killed.
  void crash();

 private:
  friend class InProcessClient;
  struct Client;

  void schedule(Duration delay, std::function<void()> happen);
  [[nodiscard]] Duration delay();
  void arrive(const std::string& from, std::uint64_t session, PublishId id, const Message& message);
  void distribute(const Message& message);
  void deliver(Client& client, const Message& message);
  void connect(Client& client);
  void disconnect(Client& client, const std::string& reason, bool with_will);
  void subscribe(Client& client, const std::string& filter);

  LinkFaults faults_;
  Random random_;
  Duration now_{0};
  std::uint64_t next_order_ = 0;
  std::map<std::pair<Duration, std::uint64_t>, std::function<void()>> due_;
  std::map<std::string, std::unique_ptr<Client>> clients_;
  std::map<std::string, Message> retained_;
};

}  // namespace aflguard
