#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/aggregation/client_update.h"
#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/row_bundle.h"

namespace aflguard {

/// When clients count as too much alike, or at odds with the others.
struct MemoryLimits {
  double memory = 0.1;       ///< least weight of a client's latest residual in its running mean
  double peers = 0.4;        ///< share of the clients that count as those most like one
  double rank = 0.52;        ///< of the clients by likeness: what is usual
  double coherent = 2;       ///< clients more alike than so many times the usual are shortened
  double power = 4;          ///< how much
  double agree = 0.1;        ///< cosine that is missing to the usual agreement until nothing is left
  double least = 0.02;       ///< share that is always left
  std::size_t panel = 1024;  ///< clients that are remembered at most
};

/// What each client said in the long run, besides what the trusted set sees: the running mean of its
/// residuals, as a sketch. Honest ones are nearly orthogonal to each other; those of clients that push
/// together are not.
///
/// Memory and time are bounded: of more than `panel` clients, those whose hashed number is smallest are
/// remembered, a uniform sample. The others are compared with these by their latest residual alone.
class ClientMemories final {
 public:
  ClientMemories() = default;
  explicit ClientMemories(const MemoryLimits& limits) : limits_(limits) {}

  [[nodiscard]] std::size_t clients() const { return ids_.size(); }

  /// How a client stands with the others after this residual, a sketch in units of R.
  struct Standing {
    double alike = 0;   ///< mean inner product with those most like it
    double agrees = 0;  ///< median cosine with the others
    double share = 1;   ///< of its update that counts
    bool too_alike = false;
    bool at_odds = false;
  };
  /// Takes the residual in, and compares. Everything counts while fewer than half of `fleet` (0: not known),
  /// or fewer than four clients, have been heard.
  [[nodiscard]] Standing hear(ClientId client, const std::vector<float>& sketch, std::size_t fleet);
  void forget(ClientId client);

  void save(StateWriter& state) const;
  [[nodiscard]] Status restore(StateReader& state);

 private:
  struct Member {
    double alike = 0;
    double agrees = 0;
    double squared = 0;  ///< squared length of its mean
    std::uint8_t times = 0;
    bool compared = false;
  };
  static constexpr std::uint8_t kMostTimes = 255;

  [[nodiscard]] bool admit(ClientId client);
  void remember(std::size_t place, const std::vector<float>& sketch);
  [[nodiscard]] Standing compare(const std::vector<float>& mean, double squared, std::size_t own) const;
  void judge(Standing& standing) const;
  void add(ClientId client);
  void remove(ClientId client);

  MemoryLimits limits_;
  std::vector<ClientId> ids_;
  std::vector<Member> members_;  ///< as ids_
  RowBundle means_;              ///< as ids_; rows beyond are zero
  std::unordered_map<ClientId, std::size_t> places_;
  std::set<std::pair<std::uint64_t, ClientId>> by_hash_;
};

}  // namespace aflguard
