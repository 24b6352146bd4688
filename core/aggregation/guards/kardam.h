#pragma once

#include <deque>
#include <unordered_map>

#include "core/aggregation/guard_kind.h"
#include "core/aggregation/vectors/running_median.h"

namespace aflguard {

struct KardamOptions {
  /// Accept everything until this many clients have reported; 0: judge from the start.
  std::uint64_t wait_for_clients = 0;
  /// f of the frequency guard: among the last 2f + 1 accepted updates at least f + 1 clients; 0: off.
  std::uint64_t frequency = 0;
  /// Scale an accepted update by 1 / (1 + delay).
  bool dampen = false;
};

/// Kardam's Lipschitz guard: K = ||g - g'|| / ||theta - theta'|| against the client's last accepted update,
/// theta being the model each was computed on; accept iff K is at most the median of all clients' latest K.
/// A client's first update is accepted. Memory: 2 d floats and about 200 bytes per client. Time: 4 passes
/// over d, and O(log n) for the median.
class Kardam final : public Guard {
 public:
  Kardam(std::size_t dimension, const KardamOptions& options) : dimension_(dimension), options_(options) {}

  [[nodiscard]] std::string_view name() const override { return "kardam"; }
  [[nodiscard]] GuardNeeds needs() const override { return {.base_model = true}; }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<Kardam>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;

 private:
  struct Client {
    std::vector<float> update;  ///< last accepted
    std::vector<float> base;    ///< the model it was computed on
    double coefficient = 0;     ///< latest K; meaningful only if known
    bool known = false;
  };
  [[nodiscard]] bool too_frequent(ClientId client) const;
  void note_accepted(ClientId client);
  void note_coefficient(ClientId id, Client& client, double coefficient);
  /// Fills distance, bound, accepted and reason for a client that was seen before.
  void compare(const Submission& submission, Client& client, Verdict& verdict);

  std::size_t dimension_;
  KardamOptions options_;
  std::unordered_map<ClientId, Client> clients_;
  RunningMedian coefficients_;
  std::deque<ClientId> latest_accepted_;                           ///< at most 2f + 1
  std::unordered_map<ClientId, std::uint64_t> latest_per_client_;  ///< how often each is in there
};

[[nodiscard]] GuardKind kardam_kind();

}  // namespace aflguard
