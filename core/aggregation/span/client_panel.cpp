#include "core/aggregation/span/client_panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/aggregation/span/panel_order.h"
#include "core/aggregation/vectors/median.h"

namespace aflguard {

void ClientPanel::rotate(const SmallMatrix& rotation) {
  // So many clients at a time that their numbers stay in the first-level cache, and loops run over
  // neighbours.
  constexpr std::size_t kTile = 64;
  const std::size_t directions = means_.size();
  std::vector<std::array<double, kTile>> old(directions);
  for (std::size_t first = 0; first < ids_.size(); first += kTile) {
    const std::size_t here = std::min(kTile, ids_.size() - first);
    for (std::size_t k = 0; k < directions; ++k) std::copy_n(means_[k].data() + first, here, old[k].data());
    for (std::size_t k = 0; k < directions; ++k) {
      std::array<double, kTile> turned{};
      for (std::size_t j = 0; j < directions; ++j) {
        const double share = rotation(k, j);
        for (std::size_t i = 0; i < here; ++i) turned[i] += share * old[j][i];
      }
      std::copy_n(turned.data(), here, means_[k].data() + first);
    }
  }
}

void ClientPanel::hear(ClientId client, const std::vector<double>& components) {
  const auto known = places_.find(client);
  if (known != places_.end()) {
    for (std::size_t k = 0; k < means_.size(); ++k) {
      double& mean = means_[k][known->second];
      mean = (1 - weight_) * mean + weight_ * components[k];
    }
    return;
  }
  if (most_ == 0) return;
  if (ids_.size() == most_) {
    const auto last = std::prev(by_hash_.end());
    if (std::pair(panel_order(client), client) > *last) return;
    remove(last->second);
  }
  add(client);
  for (std::size_t k = 0; k < means_.size(); ++k) means_[k].back() = components[k];
}

void ClientPanel::forget(ClientId client) {
  if (places_.contains(client)) remove(client);
}

void ClientPanel::add(ClientId client) {
  places_[client] = ids_.size();
  ids_.push_back(client);
  by_hash_.emplace(panel_order(client), client);
  for (auto& numbers : means_) numbers.push_back(0);
}

void ClientPanel::remove(ClientId client) {
  const std::size_t place = places_.at(client);
  ids_[place] = ids_.back();
  places_[ids_[place]] = place;
  ids_.pop_back();
  for (auto& numbers : means_) {
    numbers[place] = numbers.back();
    numbers.pop_back();
  }
  places_.erase(client);
  by_hash_.erase({panel_order(client), client});
}

ClientPanel::Opinion ClientPanel::opinion(std::size_t direction) const {
  const std::vector<double>& means = means_[direction];
  Opinion opinion;
  opinion.median = median_of(means, spare_);
  scratch_.resize(means.size());
  for (std::size_t i = 0; i < means.size(); ++i) scratch_[i] = std::fabs(means[i] - opinion.median);
  opinion.deviation = median_of(scratch_, spare_);
  return opinion;
}

void ClientPanel::save(StateWriter& state) const {
  state.number<std::uint64_t>(ids_.size());
  for (const auto& [hash, client] : by_hash_) {  // a fixed order: equal states give equal bytes
    state.number(client);
    for (const auto& numbers : means_) state.number(numbers[places_.at(client)]);
  }
}

Status ClientPanel::restore(StateReader& state) {
  ClientPanel fresh(means_.size(), most_, weight_);
  TRY(const std::size_t clients, state.count(sizeof(ClientId) + means_.size() * sizeof(double)));
  if (clients > most_) return corrupt("state of 'SPAN': a panel of too many clients");
  for (std::size_t i = 0; i < clients; ++i) {
    TRY(const auto client, state.number<std::uint64_t>());
    if (fresh.places_.contains(client)) return corrupt("state of 'SPAN': a client is on the panel twice");
    fresh.add(client);
    for (auto& numbers : fresh.means_) {
      TRY(numbers.back(), state.number<double>());
      if (!std::isfinite(numbers.back())) return corrupt("state of 'SPAN': a number that is not finite");
    }
  }
  *this = std::move(fresh);
  return {};
}

}  // namespace aflguard
