#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace aflguard {

struct Message {
  std::string topic;
  Bytes payload;
  /// Published: the broker keeps it for later subscribers. Received: it had been kept.
  bool retained = false;
  /// Published: the next one will say more, so what became of this one does not matter. QoS 0, half the
  /// packets.
  bool best_effort = false;
};

/// What the broker publishes for a client that vanishes without saying goodbye.
struct LastWill {
  Message message;
};

/// Names one publish of one bus. Never 0, never used twice.
using PublishId = std::uint64_t;

/// Connected, and every filter given to subscribe() is in force (again).
struct BusConnected {
  std::string protocol;  ///< "MQTT 5", "MQTT 3.1.1", "in-process"
};
/// The connection is gone, or could not be made; the bus tries again by itself.
struct BusDisconnected {
  std::string reason;
  /// Another program connected as this client, and the broker keeps one of the two (MQTT 5 brokers tell).
  bool taken_over = false;
};
struct BusReceived {
  Message message;
};
/// The broker has it. That is not a delivery: a broker may lose what it acknowledged.
struct BusPublished {
  PublishId id = 0;
};
/// It may or may not have reached the broker; that will not be known.
struct BusPublishFailed {
  PublishId id = 0;
  std::string reason;
};
/// wake() was called.
struct BusWoken {};

using BusEvent =
    std::variant<BusConnected, BusDisconnected, BusReceived, BusPublished, BusPublishFailed, BusWoken>;

/// Counters since the start, for telemetry.
struct BusCounters {
  std::uint64_t received = 0;
  std::uint64_t dropped = 0;  ///< thrown away because the queue was full, or its topic's part of it
  std::uint64_t connections = 0;
};

/// A connection to a broker that keeps itself up. QoS 1 unless said otherwise: messages can be lost with the
/// broker, repeated and reordered; nothing above may rely on more. No call waits for the network except
/// next_event(), which waits until its deadline, and stop().
class MessageBus {
 public:
  virtual ~MessageBus() = default;

  /// Starts connecting, and goes on until stop(). Once per bus.
  [[nodiscard]] virtual Status start() = 0;

  /// From now on, and after every reconnect, until unsubscribe(). Before or after start(). A filter that is
  /// in force already is subscribed to again: the broker sends once more what it keeps for it.
  [[nodiscard]] virtual Status subscribe(const std::string& filter) = 0;

  /// The same for something that is good to have, at QoS 0: what a crowd of devices says of itself costs half
  /// the packets then. Where the broker refuses it, by its access list say, the bus logs that and goes on
  /// without. subscribe() gives the connection up instead, and tries again.
  [[nodiscard]] virtual Status subscribe_if_allowed(const std::string& filter) { return subscribe(filter); }

  /// The end of a subscription; what is on its way may still arrive. A filter without a subscription is
  /// left alone.
  virtual void unsubscribe(const std::string& filter) = 0;

  /// Takes a copy of the message; BusPublished or BusPublishFailed follows, unless it was sent as best
  /// effort. kUnavailable while there is no connection or too much is on its way: nothing is copied then, try
  /// again after the next event.
  [[nodiscard]] virtual Result<PublishId> publish(const Message& message) = 0;

  /// The next event; none when `deadline` passes first or the bus has stopped. One thread calls this.
  [[nodiscard]] virtual std::optional<BusEvent> next_event(
      std::chrono::steady_clock::time_point deadline) = 0;

  /// Makes next_event() return BusWoken. From any thread.
  virtual void wake() = 0;

  /// Says goodbye: the last will is not published. No more events of the connection follow.
  virtual void stop() = 0;

  [[nodiscard]] virtual BusCounters counters() const = 0;

  /// How many messages were dropped since the last call, by topic: because too many of that topic waited, or
  /// too many at all. Of very many topics some are left out.
  [[nodiscard]] virtual std::map<std::string, std::uint64_t> take_dropped() { return {}; }
};

}  // namespace aflguard
