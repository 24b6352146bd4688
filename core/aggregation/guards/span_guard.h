#pragma once

#include "core/aggregation/guard_kind.h"
#include "core/aggregation/span/client_panel.h"
#include "core/aggregation/span/residual_votes.h"
#include "core/aggregation/span/visible_span.h"
#include "core/aggregation/span/watched_directions.h"

namespace aflguard {

struct SpanGuardOptions {
  MixtureLimits mixture;
  double reject = 3;           ///< residuals longer than this many medians are rejected
  double radius = 0.8;         ///< R, in medians: longer residuals are shortened to it
  double trust = 0;            ///< R shrinks with the visible part's honesty to this power; 0: it does not
  std::size_t directions = 8;  ///< K, at most kMostDirections; 0: no step 3
  double discount = 0.99;      ///< of the second moment, per residual that enters
  double width = 1;            ///< winsorising to median +- this many median deviations
  std::size_t panel = 1024;    ///< clients whose components are kept at most
  std::size_t clients = 0;     ///< of the fleet; 0: not known, and no quorum
  double quorum = 0.8;         ///< share of them whose votes make M believable; see quorate()
};

/// Our own guard; docs/span-guard.md explains it. Two questions instead of one:
///   1. What can the trusted set see? The part of the update in the span of the class updates s_c is replaced
///      by a label mixture that an honest client could have.
///   2. What do the other clients say about the rest? The residual's length is bounded by the median of all
///      clients' lengths, and its components along the directions in which residuals differ most by what the
///      median client has there.
/// Memory: (C + K) d floats, one number per client, K more for those on the panel. Time: two passes over
/// (C + K + 2) d floats, O(log n) for the median length, O(panel) for the components.
class SpanGuard final : public Guard {
 public:
  SpanGuard(std::size_t dimension, const SpanGuardOptions& options);

  [[nodiscard]] std::string_view name() const override { return "span-guard"; }
  [[nodiscard]] GuardNeeds needs() const override {
    return {.reference = true, .reference_per_class = true, .votes = true};
  }
  [[nodiscard]] Decision judge(const Submission& submission) override;
  void forget(ClientId client) override;
  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<SpanGuard>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override;
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override;

  // What an attacker who knows everything looks at; also for tests and displays.
  [[nodiscard]] const SpanGuardOptions& options() const { return options_; }
  [[nodiscard]] const WatchedDirections& directions() const { return directions_; }
  [[nodiscard]] const ClientPanel& panel() const { return panel_; }
  [[nodiscard]] const RunningMedian& lengths() const { return votes_.lengths(); }
  /// M as the guard believes it: bounded by the trusted set's own scale while few clients have voted.
  [[nodiscard]] double median_length(const VisibleSpan& span) const {
    return votes_.median({options_.clients, options_.quorum}, span.typical_length());
  }
  /// So many of the fleet have voted that most of them can be taken for honest: the quorum, or more than half
  /// of the fleet and most of these several times, because the others seem to be away.
  [[nodiscard]] bool quorate() const { return votes_.quorate({options_.clients, options_.quorum}); }

 private:
  /// One update on its way through the rule.
  struct Residual {
    std::vector<double> class_products;      ///< with the class updates
    std::vector<double> direction_products;  ///< of the stored rows
    VisiblePart visible;
    double norm = 0;    ///< of the update
    double length = 0;  ///< ||o||
    double radius = 0;  ///< R
    double keep = 1;    ///< o is shortened by this factor
  };

  /// Takes in a reference that has changed.
  void meet(const ReferenceUpdate& reference);
  [[nodiscard]] Residual look(const Submission& submission, double squared_norm) const;
  /// How much of R an update gets whose visible part looks like this: 0 to 1.
  [[nodiscard]] double believed(const VisiblePart& visible) const;
  /// Winsorises: how far each component is moved, in units of R.
  [[nodiscard]] std::vector<double> bend(ClientId client, const WatchedDirections::Turn& turn, double scale,
                                         Verdict& verdict);
  void step(const Submission& submission, const Residual& residual, Decision& decision);
  void note_alteration(const Residual& residual, const std::vector<double>& bends,
                       const std::vector<double>& components, Decision& decision) const;

  std::size_t dimension_;
  SpanGuardOptions options_;
  VisibleSpan span_;
  WatchedDirections directions_;
  ClientPanel panel_;
  ResidualVotes votes_;
};

[[nodiscard]] GuardKind span_guard_kind();

}  // namespace aflguard
