#include "gateway_server/outbox.h"

#include <algorithm>

namespace aflguard {

bool Outbox::add(const std::string& topic, Bytes envelope) {
  const std::size_t size = envelope.size();
  if (size > max_bytes_ - bytes_) return false;
  auto sender = PieceSender::create(std::move(envelope));
  if (!sender) return false;
  bytes_ += size;
  transfers_.push_back(std::make_shared<Transfer>(Transfer{topic, std::move(*sender)}));
  return true;
}

void Outbox::pump() {
  while (!latest_.empty()) {
    Message message = latest_.begin()->second;
    const auto id = bus_.publish(std::move(message));
    if (!id) return;
    on_their_way_.emplace(*id, OnItsWay{});
    latest_.erase(latest_.begin());
  }
  for (const auto& transfer : transfers_) {
    if (!pump(transfer)) return;
  }
}

bool Outbox::pump(const std::shared_ptr<Transfer>& transfer) {
  while (auto piece = transfer->sender.next()) {
    const auto id = bus_.publish({.topic = transfer->topic, .payload = std::move(piece->message)});
    if (!id) {
      transfer->sender.failed(piece->index);
      return false;
    }
    on_their_way_.emplace(*id, OnItsWay{transfer, piece->index});
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
  if (const auto transfer = found->second.transfer.lock()) transfer->sender.failed(found->second.index);
  on_their_way_.erase(found);
}

void Outbox::on_link_lost() {
  on_their_way_.clear();
  for (const auto& transfer : transfers_) transfer->sender.link_lost();
}

}  // namespace aflguard
