#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/base/bytes.h"
#include "core/base/random.h"
#include "core/base/result.h"
#include "core/envelope/piece_sender.h"
#include "core/transport/backoff.h"
#include "core/transport/message_bus.h"

namespace aflguard::edge {

/// How long a device waits for a verdict before it sends the update again.
struct AnswerTimeouts {
  std::chrono::milliseconds shortest{30'000};
  std::chrono::milliseconds longest{300'000};
};

/// One sealed update on its way to the gateway, until its verdict comes: pieces, acknowledgements, broken
/// links and new rounds. It has no thread and no clock: the caller passes the time.
class OutgoingUpdate final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever = Time::max();

  /// kInvalidInput when the envelope cannot travel (PieceSender). `first_round`: above every round that an
  /// earlier run of this device used for the same envelope. `seed` spreads the waits of many devices.
  [[nodiscard]] static Result<OutgoingUpdate> create(std::uint64_t sequence, Bytes envelope,
                                                     std::uint16_t first_round, const AnswerTimeouts& timeout,
                                                     std::uint64_t seed);

  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }
  [[nodiscard]] std::span<const std::byte> envelope() const { return sender_.envelope(); }
  /// What names its envelope in pieces, and in the gateway's refusals.
  [[nodiscard]] std::uint64_t transfer() const { return sender_.transfer(); }
  /// How often it was begun again because no verdict had come.
  [[nodiscard]] std::uint64_t fruitless_sends() const { return fruitless_sends_; }
  /// Hands over as many pieces as the window and the bus allow.
  void send(MessageBus& bus, const std::string& topic);
  /// What the bus said about a publish; others than this update's are ignored.
  void published(PublishId id, Time now);
  void failed(PublishId id);
  /// The link is gone; after the next connected() only what was not acknowledged goes again.
  void link_lost();
  /// A verdict that came while the link was down is lost: an update that waits for one goes again soon.
  void connected(Time now);
  /// Pieces of an answer arrive: as long as they do, there is no need to ask again. The answer with a large
  /// model takes longer than the timeout.
  void answer_arrives(Time now);
  /// Sends everything again if no verdict came in time; true when it does.
  bool start_over_when_due(Time now);
  /// When start_over_when_due() wants to be called; kNever while pieces are on their way.
  [[nodiscard]] Time due() const { return due_; }
  /// The gateway does not take it now: nothing more of it goes out, and all of it again after `wait`, or,
  /// when that is 0, after one of the growing waits.
  void hold(Time now, std::chrono::milliseconds wait);
  [[nodiscard]] bool held() const { return held_; }
  /// The gateway may have changed its mind: a held update goes again at once.
  void hold_no_longer(Time now);

 private:
  OutgoingUpdate(std::uint64_t sequence, PieceSender sender, const AnswerTimeouts& timeout,
                 std::uint64_t seed)
      : sequence_(sequence),
        sender_(std::move(sender)),
        shortest_(timeout.shortest),
        waits_(timeout.shortest, timeout.longest, seed),
        soon_(std::min(timeout.shortest, std::chrono::milliseconds(2000))),
        random_(seed) {}

  std::uint64_t sequence_;
  PieceSender sender_;
  std::chrono::milliseconds shortest_;
  Backoff waits_;
  std::chrono::milliseconds soon_;
  Random random_;
  std::map<PublishId, std::uint16_t> on_their_way_;
  Time due_ = kNever;
  bool held_ = false;  ///< until due_
  std::uint64_t fruitless_sends_ = 0;
};

}  // namespace aflguard::edge
