#include "core/envelope/finished_transfers.h"

#include "core/identity/name_hash.h"

namespace aflguard {

FinishedTransfers::Place FinishedTransfers::place_of(std::string_view source) const {
  const std::uint64_t hash = name_hash(source);
  return {static_cast<std::size_t>(hash % places_), static_cast<std::uint32_t>(hash >> 32) | 1U};
}

void FinishedTransfers::note(std::string_view source, std::uint64_t transfer, std::uint16_t round, Time now) {
  if (places_ == 0) return;
  if (finished_.empty()) finished_.resize(places_);
  const Place place = place_of(source);
  finished_[place.index] = {transfer, now, place.source, round};
}

bool FinishedTransfers::is_repeat(std::string_view source, std::uint64_t transfer, std::uint16_t round,
                                  Time now) const {
  if (finished_.empty()) return false;
  const Place place = place_of(source);
  const Finished& last = finished_[place.index];
  return last.source == place.source && last.transfer == transfer && round <= last.round &&
         now - last.when <= remembered_;
}

}  // namespace aflguard
