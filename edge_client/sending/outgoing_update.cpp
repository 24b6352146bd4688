#include "edge_client/sending/outgoing_update.h"

namespace aflguard::edge {

Result<OutgoingUpdate> OutgoingUpdate::create(std::uint64_t sequence, Bytes envelope,
                                              std::uint16_t first_round, const AnswerTimeouts& timeout,
                                              std::uint64_t seed) {
  TRY(PieceSender sender, PieceSender::create(std::move(envelope), {.first_round = first_round}));
  return OutgoingUpdate(sequence, std::move(sender), timeout, seed);
}

void OutgoingUpdate::send(MessageBus& bus, const std::string& topic) {
  if (held_) return;
  while (auto piece = sender_.next()) {
    const auto id = bus.publish({topic, std::move(piece->message), false});
    if (!id.ok()) return sender_.failed(piece->index);
    on_their_way_[*id] = piece->index;
  }
}

void OutgoingUpdate::published(PublishId id, Time now) {
  const auto found = on_their_way_.find(id);
  if (found == on_their_way_.end()) return;
  sender_.acknowledged(found->second);
  on_their_way_.erase(found);
  if (sender_.all_acknowledged() && !held_ && due_ == kNever) due_ = now + waits_.next();
}

void OutgoingUpdate::failed(PublishId id) {
  const auto found = on_their_way_.find(id);
  if (found == on_their_way_.end()) return;
  sender_.failed(found->second);
  on_their_way_.erase(found);
}

void OutgoingUpdate::link_lost() {
  sender_.link_lost();
  on_their_way_.clear();
}

void OutgoingUpdate::connected(Time now) {
  if (due_ == kNever || held_) return;
  const auto wait = std::chrono::duration<double>(soon_) * random_.uniform(0.5, 1);
  due_ = std::min(due_, now + std::chrono::duration_cast<Time::duration>(wait));
}

void OutgoingUpdate::answer_arrives(Time now) {
  if (due_ != kNever && !held_) due_ = std::max(due_, now + shortest_);
}

bool OutgoingUpdate::start_over_when_due(Time now) {
  if (now < due_) return false;
  sender_.start_over();
  on_their_way_.clear();  // an acknowledgement of the old round says nothing about the new one
  due_ = kNever;
  held_ = false;
  ++fruitless_sends_;
  return true;
}

void OutgoingUpdate::hold(Time now, std::chrono::milliseconds wait) {
  held_ = true;
  due_ = now + (wait.count() > 0 ? wait : waits_.next());
}

void OutgoingUpdate::hold_no_longer(Time now) {
  if (held_) due_ = now;
}

}  // namespace aflguard::edge
