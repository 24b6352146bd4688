#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "core/envelope/piece_sender.h"
#include "core/transport/message_bus.h"

namespace aflguard::gateway {

/// Sends envelopes to devices in pieces, many at a time, within a bound on their memory, and single messages
/// of which only the latest per topic counts. Owned by the thread that reads the bus's events.
class Outbox final {
 public:
  Outbox(MessageBus& bus, std::size_t max_bytes) : bus_(bus), max_bytes_(max_bytes) {}

  /// Another bound from now on.
  void set_limit(std::size_t max_bytes) { max_bytes_ = max_bytes; }

  /// Below the bound, one more reply may be added, whatever its size.
  [[nodiscard]] bool has_room() const { return bytes_ < max_bytes_; }
  /// False when there is no room, or the envelope is too large for MQTT. `before`, where there is one, is
  /// another envelope for the same topic that leaves first.
  [[nodiscard]] bool add(const std::string& topic, Bytes envelope, Bytes before = {});
  /// Replaces what still waits for that topic.
  void set(Message message) { latest_[message.topic] = std::move(message); }

  /// Publishes whatever can go now.
  void pump();

  void on_published(PublishId id);
  void on_failed(PublishId id);
  /// What was on its way goes again once there is a link.
  void on_link_lost();

  [[nodiscard]] bool empty() const { return transfers_.empty() && latest_.empty() && on_their_way_.empty(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Transfer {
    std::string topic;
    PieceSender sender;
    std::weak_ptr<Transfer> after = {};  ///< waits until all pieces of that one are on their way
  };
  /// A piece of a transfer, or a message of which only the latest counts.
  struct OnItsWay {
    std::weak_ptr<Transfer> transfer = {};  ///< expired when the transfer is complete or was dropped
    std::uint16_t index = 0;
    std::shared_ptr<Message> latest = nullptr;
  };
  [[nodiscard]] bool put(const std::string& topic, Bytes envelope, const std::weak_ptr<Transfer>& after);
  void go_again(OnItsWay&& lost);
  /// False when the bus takes nothing more for now.
  [[nodiscard]] bool pump(const std::shared_ptr<Transfer>& transfer);

  MessageBus& bus_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  /// Grows, so that the same envelope does not count as a late repeat when it is sent once more: an offer, to
  /// who asks again.
  std::uint16_t next_round_ = 0;
  std::deque<std::shared_ptr<Transfer>> transfers_;  ///< oldest first
  std::map<PublishId, OnItsWay> on_their_way_;
  std::map<std::string, Message> latest_;
};

}  // namespace aflguard::gateway
