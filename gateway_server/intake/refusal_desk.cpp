#include "gateway_server/intake/refusal_desk.h"

#include <algorithm>

#include "core/base/plain_text.h"

namespace aflguard::gateway {
namespace {

/// A device that is resumed hears of it at once; this is for one that did not.
constexpr std::chrono::minutes kPausedWait(5);

}  // namespace

void RefusalDesk::refuse(const RefusedUpdate& refused, std::size_t inside, Time now) {
  log_.note(refused.device, refused.refusal, now);
  if (refused.transfer == 0) return;  // the device could not tell what this is about
  const std::lock_guard lock(mutex_);
  if (!answers_.take(refused.device, now)) return;
  RefusalMessage message;
  message.fleet = fleet_;
  message.device = refused.device;
  message.transfer = refused.transfer;
  message.sequence = refused.sequence;
  message.reason = refused.refusal.reason;
  message.proven = refused.proven;
  message.text = plain_text(refused.refusal.message, kMaxRefusalText);
  if (refused.come_back) {
    message.come_back = std::min(*refused.come_back, kLongestComeBack);
  } else if (message.reason == RefusalReason::kOverloaded) {
    message.come_back = line_.put(refused.device, inside, now);
  }
  if (message.reason == RefusalReason::kPaused) message.come_back = kPausedWait;
  answer_(std::move(message));
}

void RefusalDesk::measure(std::uint64_t served, Time now) {
  const std::lock_guard lock(mutex_);
  line_.measure(served, now);
}

bool RefusalDesk::comes_after_others(std::string_view device, Time now) {
  const std::lock_guard lock(mutex_);
  return line_.size(now) > 0 && !line_.is_due(device, now);
}

void RefusalDesk::let_in(std::string_view device) {
  const std::lock_guard lock(mutex_);
  line_.leave(device);
}

}  // namespace aflguard::gateway
