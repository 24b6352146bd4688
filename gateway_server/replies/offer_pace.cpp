#include "gateway_server/replies/offer_pace.h"

#include <utility>

namespace aflguard::gateway {

bool OfferPace::due(const std::string& device, Time now) {
  if (now - begun_ >= interval_) {
    older_ = now - begun_ >= 2 * interval_ ? std::unordered_set<std::string>() : std::move(newer_);
    newer_.clear();
    begun_ = now;
  }
  if (newer_.contains(device) || older_.contains(device)) return false;
  newer_.insert(device);
  return true;
}

}  // namespace aflguard::gateway
