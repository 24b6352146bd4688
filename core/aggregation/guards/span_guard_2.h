#pragma once

#include "core/aggregation/guard_kind.h"
#include "core/aggregation/span/client_memories.h"
#include "core/aggregation/span/client_panel.h"
#include "core/aggregation/span/residual_votes.h"
#include "core/aggregation/span/sketch.h"
#include "core/aggregation/span/visible_span.h"

namespace aflguard {

struct SpanGuard2Options {
  MixtureLimits mixture;
  MemoryLimits memories;
  double reject = 3;    ///< residuals longer than this many medians are rejected
  double radius = 0.8;  ///< R, in medians: longer residuals are shortened to it
  double weights = 2;  ///< regression: weights are bounded to median +- this many deviations; 0: they are not
  Quorum quorum;
};

/// SpanGuard with clients compared by their long memory; docs/span-guard.md explains it. The visible part,
/// the bound on the residual's length and the quorum are SpanGuard's. Instead of watching directions, it
/// keeps of each client what its residuals have in common, as a sketch of 1,024 numbers: clients that are
/// more alike than most, or at odds with most, move the model less. Memory: C d floats, one number per
/// client, 4 KB more for those remembered (`panel`). Time: two passes over (C + 2) d floats, one over d for
/// the sketch, O(log n), and 1,024 numbers per client remembered.
class SpanGuard2 final : public Guard {
 public:
  SpanGuard2(std::size_t dimension, const SpanGuard2Options& options);

  [[nodiscard]] std::string_view name() const override { return "span-guard-2"; }
  [[nodiscard]] GuardNeeds needs() const override {
    return {.reference = true, .reference_per_class = true, .votes = true};
  }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  void forget(ClientId client) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<SpanGuard2>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;

  // What an attacker who knows everything looks at; also for tests.
  [[nodiscard]] const SpanGuard2Options& options() const { return options_; }
  [[nodiscard]] const ResidualSketcher& sketcher() const { return sketcher_; }
  [[nodiscard]] const ClientMemories& memories() const { return memories_; }
  [[nodiscard]] double median_length(const VisibleSpan& span) const {
    return votes_.median(options_.quorum, span.typical_length());
  }

 private:
  /// One update on its way through the rule.
  struct Parts {
    VisiblePart visible;
    double norm = 0;    ///< of the update
    double length = 0;  ///< of the residual o
    double radius = 0;  ///< R
    double keep = 1;    ///< o is shortened by this factor
  };

  void meet(const ReferenceUpdate& reference);
  [[nodiscard]] Parts split(const Submission& submission, double squared_norm) const;
  void bound_weight(ClientId client, Parts& parts, Verdict& verdict);
  [[nodiscard]] double share_of(const Submission& submission, const Parts& parts, Verdict& verdict);
  static void step(const Submission& submission, const Parts& parts, double share);
  void note_alteration(const Parts& parts, double share, Decision& decision) const;

  std::size_t dimension_;
  SpanGuard2Options options_;
  VisibleSpan span_;
  ResidualVotes votes_;
  ResidualSketcher sketcher_;
  ClientMemories memories_;
  ClientPanel weights_;  ///< of the trusted gradient, for regressions
  bool met_ = false;     ///< a reference since the state was restored
};

[[nodiscard]] GuardKind span_guard_2_kind();

}  // namespace aflguard
