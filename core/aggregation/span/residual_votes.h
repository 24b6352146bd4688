#pragma once

#include <cstdint>
#include <unordered_map>

#include "core/aggregation/client_update.h"
#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/running_median.h"

namespace aflguard {

/// How many clients of a fleet have to vote until their median is believed.
struct Quorum {
  std::size_t clients = 0;  ///< of the fleet; 0: not known, and no quorum
  double share = 0.8;       ///< of them
};

/// The length of every client's latest residual, and the clients' median.
class ResidualVotes final {
 public:
  void vote(ClientId client, double length);
  /// False when the client has not voted.
  bool forget(ClientId client);

  [[nodiscard]] const RunningMedian& lengths() const { return lengths_; }
  /// So many of the fleet have voted that most of them can be taken for honest: the quorum, or more than half
  /// of the fleet and most of these several times, because the others seem to be away.
  [[nodiscard]] bool quorate(const Quorum& quorum) const;
  /// M as a guard believes it: at most `typical`, the trusted set's own scale, while few clients have voted.
  [[nodiscard]] double median(const Quorum& quorum, double typical) const;

  void save(StateWriter& state) const;
  [[nodiscard]] Status restore(StateReader& state);

 private:
  struct Vote {
    double length = 0;       ///< of the client's latest residual
    std::uint8_t times = 0;  ///< that it has voted, up to kSeveral
  };
  static constexpr std::uint8_t kSeveral = 3;

  std::unordered_map<ClientId, Vote> votes_;
  RunningMedian lengths_;    ///< of votes_
  std::size_t settled_ = 0;  ///< clients that have voted several times
};

}  // namespace aflguard
