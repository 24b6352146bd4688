#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/aggregation/client_update.h"
#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/small_matrix.h"

namespace aflguard {

/// What the clients say along each watched direction: K numbers per client, their running means, of which
/// medians and median deviations are asked.
///
/// When the directions turn, every client's numbers turn, so no order of them survives an update: medians are
/// taken afresh. To bound that work, a fleet of more than `most` clients is represented by a panel of them,
/// those whose hashed number is smallest: a uniform sample in which the malicious share is that of the fleet,
/// give or take 1/sqrt(most).
class ClientPanel final {
 public:
  ClientPanel() = default;
  /// `weight`: of a client's latest components in its running mean.
  ClientPanel(std::size_t directions, std::size_t most, double weight = 0.5)
      : most_(most), weight_(weight), means_(directions) {}

  [[nodiscard]] std::size_t clients() const { return ids_.size(); }

  /// Every client's components, after the directions turned.
  void rotate(const SmallMatrix& rotation);
  /// Takes part of a client's latest components into its running mean (the first count whole).
  void hear(ClientId client, const std::vector<double>& components);
  void forget(ClientId client);

  struct Opinion {
    double median = 0;
    double deviation = 0;  ///< median of |number - median|
  };
  /// Of all clients on the panel; there is at least one.
  [[nodiscard]] Opinion opinion(std::size_t direction) const;

  void save(StateWriter& state) const;
  [[nodiscard]] Status restore(StateReader& state);

 private:
  void add(ClientId client);
  void remove(ClientId client);

  std::size_t most_ = 0;
  double weight_ = 0.5;
  std::vector<ClientId> ids_;
  std::vector<std::vector<double>> means_;  ///< [direction][place of the client]
  std::unordered_map<ClientId, std::size_t> places_;
  std::set<std::pair<std::uint64_t, ClientId>> by_hash_;
  mutable std::vector<double> scratch_;
  mutable std::vector<double> spare_;
};

}  // namespace aflguard
