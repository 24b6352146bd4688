#include "core/aggregation/span/residual_votes.h"

#include <algorithm>
#include <cmath>

namespace aflguard {

void ResidualVotes::vote(ClientId client, double length) {
  const auto [known, first] = votes_.try_emplace(client, Vote{length, 0});
  Vote& own = known->second;
  if (first) {
    lengths_.insert(client, length);
  } else {
    lengths_.replace(client, own.length, length);
    own.length = length;
  }
  if (own.times < kSeveral && ++own.times == kSeveral) ++settled_;
}

bool ResidualVotes::forget(ClientId client) {
  const auto known = votes_.find(client);
  if (known == votes_.end()) return false;
  lengths_.erase(client, known->second.length);
  if (known->second.times == kSeveral) --settled_;
  votes_.erase(known);
  return true;
}

bool ResidualVotes::quorate(const Quorum& quorum) const {
  const std::size_t voters = votes_.size();
  const double wanted = quorum.share * static_cast<double>(quorum.clients);
  const bool others_away = 2 * voters > quorum.clients && 2 * settled_ > voters;
  return static_cast<double>(voters) >= wanted || others_away;
}

double ResidualVotes::median(const Quorum& quorum, double typical) const {
  if (lengths_.size() == 0) return typical;
  return quorate(quorum) ? lengths_.median() : std::min(lengths_.median(), typical);
}

void ResidualVotes::save(StateWriter& state) const {
  std::vector<ClientId> ids;
  for (const auto& [id, vote] : votes_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());  // equal states give equal bytes
  state.number<std::uint64_t>(ids.size());
  for (const ClientId id : ids) {
    state.number(id);
    state.number(votes_.at(id).length);
    state.number(votes_.at(id).times);
  }
}

Status ResidualVotes::restore(StateReader& state) {
  ResidualVotes fresh;
  TRY(const std::size_t clients, state.count(sizeof(ClientId) + sizeof(double) + 1));
  for (std::size_t i = 0; i < clients; ++i) {
    TRY(const auto id, state.number<std::uint64_t>());
    TRY(const auto length, state.number<double>());
    TRY(const auto times, state.number<std::uint8_t>());
    const bool possible = length >= 0 && std::isfinite(length) && times >= 1 && times <= kSeveral;
    if (!possible || fresh.votes_.contains(id)) {
      return corrupt("state of a guard: client " + std::to_string(id) + " has an impossible vote");
    }
    for (std::uint8_t time = 0; time < times; ++time) fresh.vote(id, length);
  }
  *this = std::move(fresh);
  return {};
}

}  // namespace aflguard
