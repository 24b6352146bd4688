#include "core/aggregation/span/client_memories.h"

#include <algorithm>
#include <cmath>

#include "core/aggregation/span/panel_order.h"
#include "core/aggregation/vectors/median.h"
#include "core/aggregation/vectors/span_kernels.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::size_t kNotAMember = static_cast<std::size_t>(-1);
constexpr std::size_t kFewest = 4;  // clients, to compare

double median_over(const std::vector<double>& numbers) {
  std::vector<double> spare;
  return median_of(std::span<const double>(numbers), spare);
}

}  // namespace

bool ClientMemories::admit(ClientId client) {
  if (places_.contains(client)) return true;
  if (limits_.panel == 0) return false;
  if (ids_.size() == limits_.panel) {
    const auto last = std::prev(by_hash_.end());
    if (std::pair(panel_order(client), client) > *last) return false;
    remove(last->second);
  }
  add(client);
  return true;
}

void ClientMemories::add(ClientId client) {
  if (ids_.size() == means_.rows()) {
    RowBundle larger(std::min(limits_.panel, std::max<std::size_t>(16, 2 * means_.rows())), kSketch);
    std::vector<float> row(kSketch);
    for (std::size_t place = 0; place < means_.rows(); ++place) {
      means_.copy_row(place, row);
      larger.set_row(place, row);
    }
    means_ = std::move(larger);
  }
  places_[client] = ids_.size();
  ids_.push_back(client);
  members_.emplace_back();
  by_hash_.emplace(panel_order(client), client);
}

void ClientMemories::remove(ClientId client) {
  const std::size_t place = places_.at(client);
  const std::size_t last = ids_.size() - 1;
  std::vector<float> row(kSketch);
  if (place != last) {
    means_.copy_row(last, row);
    means_.set_row(place, row);
    ids_[place] = ids_[last];
    members_[place] = members_[last];
    places_[ids_[place]] = place;
  }
  std::fill(row.begin(), row.end(), 0.0F);
  means_.set_row(last, row);
  ids_.pop_back();
  members_.pop_back();
  places_.erase(client);
  by_hash_.erase({panel_order(client), client});
}

void ClientMemories::forget(ClientId client) {
  if (places_.contains(client)) remove(client);
}

void ClientMemories::remember(std::size_t place, const std::vector<float>& sketch) {
  Member& member = members_[place];
  if (member.times < kMostTimes) ++member.times;
  const double weight = std::max(limits_.memory, 1 / static_cast<double>(member.times));
  std::vector<float> mean(kSketch);
  means_.copy_row(place, mean);
  const auto take = static_cast<float>(weight);
  const auto keep = static_cast<float>(1 - weight);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = keep * mean[i] + take * sketch[i];
  means_.set_row(place, mean);
  member.squared = squared_norm(mean);
}

ClientMemories::Standing ClientMemories::hear(ClientId client, const std::vector<float>& sketch,
                                              std::size_t fleet) {
  const bool member = admit(client);
  const std::size_t own = member ? places_.at(client) : kNotAMember;
  if (member) remember(own, sketch);
  const std::size_t heard_of = std::min(fleet, limits_.panel);
  if (2 * ids_.size() < heard_of || ids_.size() < kFewest) return {};
  Standing standing;
  if (member) {
    std::vector<float> mean(kSketch);
    means_.copy_row(own, mean);
    standing = compare(mean, members_[own].squared, own);
    members_[own].alike = standing.alike;
    members_[own].agrees = standing.agrees;
    members_[own].compared = true;
  } else {
    // One residual is longer than a mean of many: taken at the members' usual length.
    std::vector<double> squares;
    for (const Member& other : members_) squares.push_back(other.squared);
    standing = compare(sketch, median_over(squares), kNotAMember);
  }
  judge(standing);
  return standing;
}

ClientMemories::Standing ClientMemories::compare(const std::vector<float>& mean, double squared,
                                                 std::size_t own) const {
  const std::vector<double> all = products(means_, mean);
  std::vector<double> alike;
  std::vector<double> cosines;
  for (std::size_t place = 0; place < ids_.size(); ++place) {
    if (place == own) continue;
    const double both = std::sqrt(squared * members_[place].squared);
    alike.push_back(all[place]);
    cosines.push_back(both > 0 ? all[place] / both : 0);
  }
  const auto peers =
      std::max<std::size_t>(1, static_cast<std::size_t>(limits_.peers * static_cast<double>(alike.size())));
  std::nth_element(alike.begin(), alike.begin() + static_cast<std::ptrdiff_t>(peers - 1), alike.end(),
                   std::greater<>());
  std::sort(alike.begin(), alike.begin() + static_cast<std::ptrdiff_t>(peers));  // one order of the sum
  double sum = 0;
  for (std::size_t i = 0; i < peers; ++i) sum += alike[i];
  Standing standing;
  standing.alike = std::max(0.0, sum / static_cast<double>(peers));
  standing.agrees = median_over(cosines);
  return standing;
}

void ClientMemories::judge(Standing& standing) const {
  std::vector<double> alike;
  std::vector<double> agrees;
  for (const Member& member : members_) {
    if (!member.compared) continue;
    alike.push_back(member.alike);
    agrees.push_back(member.agrees);
  }
  if (alike.empty()) return;
  const auto place =
      alike.begin() + static_cast<std::ptrdiff_t>(limits_.rank * static_cast<double>(alike.size() - 1));
  std::nth_element(alike.begin(), place, alike.end());
  const double bound = limits_.coherent * *place;
  const double suspicion = limits_.agree > 0 ? std::clamp(1 - standing.agrees / limits_.agree, 0.0, 1.0) : 1;
  if (limits_.coherent > 0 && standing.alike > bound && suspicion > 0) {
    standing.share *= std::pow(bound / standing.alike, limits_.power * suspicion);
    standing.too_alike = true;
  }
  const double missing = median_over(agrees) - standing.agrees;
  if (limits_.agree > 0 && missing > 0) {
    standing.share *= std::clamp(1 - missing / limits_.agree, 0.0, 1.0);
    standing.at_odds = true;
  }
  standing.share = std::max(standing.share, limits_.least);
}

void ClientMemories::save(StateWriter& state) const {
  state.number<std::uint64_t>(ids_.size());
  std::vector<float> mean(kSketch);
  for (const auto& [hash, client] : by_hash_) {  // a fixed order: equal states give equal bytes
    const std::size_t place = places_.at(client);
    const Member& member = members_[place];
    state.number(client);
    state.number(member.times);
    state.number<std::uint8_t>(member.compared ? 1 : 0);
    state.number(member.alike);
    state.number(member.agrees);
    means_.copy_row(place, mean);
    state.floats(mean);
  }
}

Status ClientMemories::restore(StateReader& state) {
  ClientMemories fresh(limits_);
  constexpr std::size_t kBytesEach = sizeof(ClientId) + 2 + 2 * sizeof(double) + kSketch * sizeof(float);
  TRY(const std::size_t clients, state.count(kBytesEach));
  if (clients > limits_.panel) return corrupt("state of a guard: memories of too many clients");
  std::vector<float> mean(kSketch);
  for (std::size_t i = 0; i < clients; ++i) {
    TRY(const auto client, state.number<std::uint64_t>());
    if (fresh.places_.contains(client)) return corrupt("state of a guard: a client is remembered twice");
    fresh.add(client);
    Member& member = fresh.members_.back();
    TRY(member.times, state.number<std::uint8_t>());
    TRY(const auto compared, state.number<std::uint8_t>());
    TRY(member.alike, state.number<double>());
    TRY(member.agrees, state.number<double>());
    const bool possible = member.times > 0 && compared <= 1 && member.alike >= 0 &&
                          std::isfinite(member.alike) && std::isfinite(member.agrees);
    if (!possible) return corrupt("state of a guard: a client has an impossible memory");
    member.compared = compared == 1;
    TRY_STATUS(state.floats(mean));
    fresh.means_.set_row(i, mean);
    member.squared = squared_norm(mean);
  }
  *this = std::move(fresh);
  return {};
}

}  // namespace aflguard
