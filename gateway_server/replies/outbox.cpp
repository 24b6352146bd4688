#include "gateway_server/replies/outbox.h"

#include <algorithm>
#include <utility>

namespace aflguard::gateway {

bool Outbox::add(const std::string& topic, Bytes envelope, Bytes before) {
  if (!has_room()) return false;
  if (before.empty()) return put(topic, std::move(envelope), {});
  return put(topic, std::move(before), {}) && put(topic, std::move(envelope), transfers_.back());
}

bool Outbox::put(const std::string& topic, Bytes envelope, const std::weak_ptr<Transfer>& after) {
  const std::size_t size = envelope.size();
  auto sender = PieceSender::create(std::move(envelope), {.first_round = next_round_++});
  if (!sender) return false;
  bytes_ += size;
  transfers_.push_back(std::make_shared<Transfer>(Transfer{topic, std::move(*sender), after}));
  return true;
}

void Outbox::pump() {
  while (!latest_.empty()) {
    const auto id = bus_.publish(latest_.begin()->second);
    if (!id) return;
    const auto sent = latest_.extract(latest_.begin());
    if (sent.mapped().best_effort) continue;
    on_their_way_.emplace(*id, OnItsWay{.latest = std::make_shared<Message>(std::move(sent.mapped()))});
  }
  for (const auto& transfer : transfers_) {
    if (!pump(transfer)) return;
  }
}

bool Outbox::pump(const std::shared_ptr<Transfer>& transfer) {
  if (const auto first = transfer->after.lock(); first && first->sender.any_waiting()) return true;
  while (auto piece = transfer->sender.next()) {
    const auto id = bus_.publish({.topic = transfer->topic, .payload = std::move(piece->message)});
    if (!id) {
      transfer->sender.failed(piece->index);
      return false;
    }
    on_their_way_.emplace(*id, OnItsWay{.transfer = transfer, .index = piece->index});
  }
  return true;
}

void Outbox::on_published(PublishId id) {
  const auto found = on_their_way_.find(id);
  if (found == on_their_way_.end()) return;
  const auto transfer = found->second.transfer.lock();
  const std::uint16_t index = found->second.index;
  on_their_way_.erase(found);
  if (transfer == nullptr) return;
  transfer->sender.acknowledged(index);
  if (!transfer->sender.all_acknowledged()) return;
  bytes_ -= transfer->sender.envelope().size();
  transfers_.erase(std::find(transfers_.begin(), transfers_.end(), transfer));
}

void Outbox::on_failed(PublishId id) {
  const auto found = on_their_way_.find(id);
  if (found == on_their_way_.end()) return;
  OnItsWay lost = std::move(found->second);
  on_their_way_.erase(found);
  go_again(std::move(lost));
}

void Outbox::go_again(OnItsWay&& lost) {
  if (const auto transfer = lost.transfer.lock()) transfer->sender.failed(lost.index);
  if (lost.latest != nullptr) latest_.try_emplace(lost.latest->topic, std::move(*lost.latest));
}

void Outbox::on_link_lost() {
  for (auto& [id, lost] : std::exchange(on_their_way_, {})) go_again(std::move(lost));
}

}  // namespace aflguard::gateway
