#pragma once

#include "core/aggregation/guard_kind.h"

namespace aflguard {

/// AFLGuard's rule in rounds: every client answers the same model; those within lambda ||g_s|| of the
/// reference are averaged, and the model takes one step along the mean. Memory: 2 d floats.
class SyncAflGuard final : public Guard {
 public:
  /// `round`: updates per round, at least 1.
  SyncAflGuard(std::size_t dimension, double lambda, std::uint64_t round);

  [[nodiscard]] std::string_view name() const override { return "sync-aflguard"; }
  [[nodiscard]] GuardNeeds needs() const override { return {.reference = true, .round = round_}; }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<SyncAflGuard>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;

 private:
  double lambda_;
  std::uint64_t round_;
  std::uint64_t judged_ = 0;    ///< in this round
  std::uint64_t accepted_ = 0;  ///< in this round
  std::vector<float> sum_;      ///< of the accepted ones
  std::vector<float> mean_;     ///< of the last round; what the returned Decision points to
};

[[nodiscard]] GuardKind sync_aflguard_kind();

}  // namespace aflguard
