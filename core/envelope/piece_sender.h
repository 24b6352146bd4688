#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/envelope/piece.h"

namespace aflguard {

struct PieceSenderOptions {
  std::size_t body_bytes = kDefaultPieceBody;  ///< 1 to 64 KiB - 20
  std::size_t window = 4;                      ///< pieces on their way at a time, at least 1
  /// The first round's number. A receiver ignores rounds that are not above the one it finished, so a sender
  /// that begins again with an old envelope starts above what it may have used.
  std::uint16_t first_round = 0;
};

/// Hands out one envelope in pieces. A state machine: the caller moves the bytes and reports what happened to
/// them; there is no I/O, no thread and no clock in here.
///
///   while (auto piece = sender.next()) publish(piece->message), remember piece->index;
///   on acknowledgement: sender.acknowledged(index), then next() again
///   on a lost link: sender.link_lost(), then next() again once there is a link
///   on no answer for long: sender.start_over()
class PieceSender final {
 public:
  struct Outgoing {
    std::uint16_t index = 0;
    Bytes message;
  };

  /// kInvalidInput when the envelope is empty, larger than 4 GiB - 1, or needs more than 65,535 pieces.
  [[nodiscard]] static Result<PieceSender> create(Bytes envelope, const PieceSenderOptions& options = {});

  /// The next piece to put on its way, or none while the window is full or nothing is left.
  [[nodiscard]] std::optional<Outgoing> next();
  /// The broker has that piece. Repeats and strange numbers change nothing.
  void acknowledged(std::uint16_t index);
  /// That piece did not leave: it goes again.
  void failed(std::uint16_t index);
  /// Everything that is on its way counts as not sent; what was acknowledged does not go again.
  void link_lost();
  /// Every piece goes again, in a new round: acknowledged is not delivered.
  void start_over();

  /// Some pieces are neither on their way nor acknowledged.
  [[nodiscard]] bool any_waiting() const { return on_their_way_ + acknowledged_ < state_.size(); }
  [[nodiscard]] bool all_acknowledged() const { return acknowledged_ == state_.size(); }
  [[nodiscard]] std::uint64_t transfer() const { return transfer_; }
  [[nodiscard]] std::uint16_t round() const { return round_; }
  [[nodiscard]] std::size_t piece_count() const { return state_.size(); }
  [[nodiscard]] std::size_t on_their_way() const { return on_their_way_; }
  [[nodiscard]] const Bytes& envelope() const { return envelope_; }

 private:
  enum class State : std::uint8_t { kWaiting, kOnItsWay, kAcknowledged };
  PieceSender(Bytes envelope, std::size_t count, const PieceSenderOptions& options);

  Bytes envelope_;
  std::uint64_t transfer_;
  std::size_t window_;
  std::vector<State> state_;
  std::size_t first_waiting_ = 0;  ///< no piece before this one waits
  std::size_t on_their_way_ = 0;
  std::size_t acknowledged_ = 0;
  std::uint16_t round_;
};

}  // namespace aflguard
