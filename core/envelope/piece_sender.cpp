#include "core/envelope/piece_sender.h"

#include <algorithm>
#include <limits>

namespace aflguard {

Result<PieceSender> PieceSender::create(Bytes envelope, const PieceSenderOptions& options) {
  if (options.body_bytes == 0 || options.body_bytes > kMaxPieceBytes - kPieceHeaderBytes) {
    return invalid_input("piece size " + std::to_string(options.body_bytes) + " is outside 1 to " +
                         std::to_string(kMaxPieceBytes - kPieceHeaderBytes) + " bytes");
  }
  if (options.window == 0) return invalid_input("piece window is 0, needs at least 1");
  if (envelope.empty() || envelope.size() > std::numeric_limits<std::uint32_t>::max()) {
    return invalid_input("envelope of " + std::to_string(envelope.size()) +
                         " bytes is outside 1 to 4294967295");
  }
  const std::size_t count = (envelope.size() + options.body_bytes - 1) / options.body_bytes;
  if (count > kMaxPieces) {
    return invalid_input("envelope of " + std::to_string(envelope.size()) + " bytes needs " +
                         std::to_string(count) + " pieces, over the limit of 65535; use larger pieces");
  }
  return PieceSender(std::move(envelope), count, options);
}

PieceSender::PieceSender(Bytes envelope, std::size_t count, const PieceSenderOptions& options)
    : envelope_(std::move(envelope)),
      transfer_(transfer_id_of(envelope_)),
      window_(options.window),
      state_(count, State::kWaiting),
      round_(options.first_round) {}

std::optional<PieceSender::Outgoing> PieceSender::next() {
  if (on_their_way_ >= window_) return std::nullopt;
  while (first_waiting_ < state_.size() && state_[first_waiting_] != State::kWaiting) ++first_waiting_;
  if (first_waiting_ == state_.size()) return std::nullopt;
  const std::size_t index = first_waiting_;
  state_[index] = State::kOnItsWay;
  ++on_their_way_;

  PieceHeader header;
  header.round = round_;
  header.index = static_cast<std::uint16_t>(index);
  header.count = static_cast<std::uint16_t>(state_.size());
  header.transfer = transfer_;
  header.total = static_cast<std::uint32_t>(envelope_.size());
  const auto body = std::span<const std::byte>(envelope_).subspan(header.offset(), header.body_size());
  return Outgoing{header.index, write_piece(header, body)};
}

void PieceSender::acknowledged(std::uint16_t index) {
  // A piece may be acknowledged although it counts as waiting: the answer outlived the link.
  if (index >= state_.size() || state_[index] == State::kAcknowledged) return;
  if (state_[index] == State::kOnItsWay) --on_their_way_;
  state_[index] = State::kAcknowledged;
  ++acknowledged_;
}

void PieceSender::failed(std::uint16_t index) {
  if (index >= state_.size() || state_[index] != State::kOnItsWay) return;
  state_[index] = State::kWaiting;
  --on_their_way_;
  first_waiting_ = std::min(first_waiting_, std::size_t{index});
}

void PieceSender::link_lost() {
  std::replace(state_.begin(), state_.end(), State::kOnItsWay, State::kWaiting);
  on_their_way_ = 0;
  first_waiting_ = 0;
}

void PieceSender::start_over() {
  std::fill(state_.begin(), state_.end(), State::kWaiting);
  on_their_way_ = 0;
  acknowledged_ = 0;
  first_waiting_ = 0;
  ++round_;
}

}  // namespace aflguard
