#include "gateway_server/replies/sent_models.h"

#include <utility>

namespace aflguard::gateway {
namespace {

std::size_t size_of(const ModelSnapshot& model) {
  return model.parameters.size() * sizeof(float);
}

}  // namespace

void SentModels::remember(const SharedModel& model) {
  // A store that was restored counts from an older version again: what went beyond it was another model.
  for (auto later = models_.lower_bound(model->version); later != models_.end();) {
    if (later->second == model) return;
    bytes_ -= size_of(*later->second);
    later = models_.erase(later);
  }
  models_.emplace(model->version, model);
  bytes_ += size_of(*model);
  while (bytes_ > max_bytes_ && !models_.empty()) drop_oldest();
}

void SentModels::drop_oldest() {
  const auto oldest = models_.begin();
  if (const auto unused = differences_.find(oldest->first); unused != differences_.end()) {
    bytes_ -= unused->second.size();
    differences_.erase(unused);
  }
  bytes_ -= size_of(*oldest->second);
  models_.erase(oldest);
}

SharedModel SentModels::find(std::uint64_t version) const {
  const auto found = models_.find(version);
  return found == models_.end() ? nullptr : found->second;
}

const Bytes* SentModels::difference(std::uint64_t base, std::uint64_t newest) const {
  const auto found = differences_.find(base);
  return newest == newest_ && found != differences_.end() ? &found->second : nullptr;
}

void SentModels::keep_difference(std::uint64_t base, std::uint64_t newest, Bytes envelope) {
  if (newest != std::exchange(newest_, newest)) {
    for (const auto& [old_base, old] : differences_) bytes_ -= old.size();
    differences_.clear();
  }
  bytes_ += envelope.size();
  differences_.insert_or_assign(base, std::move(envelope));
  while (bytes_ > max_bytes_ && !models_.empty()) drop_oldest();
}

}  // namespace aflguard::gateway
