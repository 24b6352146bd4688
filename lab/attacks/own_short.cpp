// White-box attackers who shape what they send: shorter, partly honest, at chosen times, or tried out before.
#include <array>
#include <cmath>

#include "core/aggregation/span/visible_span.h"
#include "core/aggregation/vectors/span_kernels.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "lab/attacks/own.h"

namespace aflguard::lab {
namespace {

/// A residual shorter than the others': it passes unshortened and lowers the clients' median length.
class OwnShort final : public Own {
  using Own::Own;
  Status send(AttackerView& view, std::span<const float> wish, StrongestUpdateOptions rule,
              std::span<float> update) override {
    rule.length = settings().option("length", 0.3);
    return Own::send(view, wish, rule, update);
  }
};

/// An honest residual under a harmful label mixture: nothing to see for who compares residuals.
class OwnWeights final : public Own {
  using Own::Own;
  Status send(AttackerView& view, std::span<const float> wish, StrongestUpdateOptions rule,
              std::span<float> update) override {
    if (view.reference == nullptr || view.reference->per_class.empty()) {
      return Own::send(view, wish, rule, update);
    }
    rule.length = 1e-9;
    TRY_STATUS(Own::send(view, wish, rule, update));
    const RowBundle& classes = view.reference->per_class;
    honest_.resize(update.size());
    TRY_STATUS(view.own_update(honest_));
    const VisibleSpan span(view.reference->gram);
    const VisiblePart seen = span.part(products(classes, honest_), {});
    for (std::size_t i = 0; i < update.size(); ++i) {
      double residual = honest_[i];
      for (std::size_t c = 0; c < classes.rows(); ++c) {
        residual -= seen.projection[c] * static_cast<double>(classes.at(c, i));
      }
      update[i] = static_cast<float>(static_cast<double>(update[i]) + residual);
    }
    return {};
  }
  std::vector<float> honest_;
};

/// Mostly noise, so that malicious devices look unlike each other; the push is what they share.
class OwnNoisy final : public Own {
  using Own::Own;
  Status send(AttackerView& view, std::span<const float> wish, StrongestUpdateOptions rule,
              std::span<float> update) override {
    noise_.resize(wish.size());
    for (float& value : noise_) value = static_cast<float>(view.random().normal());
    rule.spread = settings().option("push", 0.3);
    rule.noise = noise_;
    return Own::send(view, wish, rule, update);
  }
  std::vector<float> noise_;
};

/// Knows the key of the guard's sketches and sends residuals that they do not show.
class OwnUnseen final : public Own {
  using Own::Own;
  Status send(AttackerView& view, std::span<const float> wish, StrongestUpdateOptions rule,
              std::span<float> update) override {
    rule.unseen = true;
    return Own::send(view, wish, rule, update);
  }
};

/// Honest while the reference is fresh, malicious while it is old.
class OwnBursts final : public Own {
 public:
  using Own::Own;
  Status craft(AttackerView& view, std::span<float> update) override {
    const double quiet = settings().option("quiet", 0.5);
    const auto interval = static_cast<double>(settings().reference_interval);
    if (static_cast<double>(view.reference_age) < quiet * interval) return view.own_update(update);
    return Own::craft(view, update);
  }
};

/// Tries a handful of updates on a copy of the guard and sends what moves the model furthest.
class OwnBest final : public Own {
  using Own::Own;
  struct Candidate {
    SentMixture mixture;
    double follow;
    double spread;
  };
  static constexpr std::array<Candidate, 9> kCandidates = {{{SentMixture::kStrongest, 1, 1},
                                                            {SentMixture::kStrongest, 0, 1},
                                                            {SentMixture::kStrongest, 2, 1},
                                                            {SentMixture::kStrongest, 3, 1},
                                                            {SentMixture::kStrongest, 1, 0.6},
                                                            {SentMixture::kLeast, 1, 1},
                                                            {SentMixture::kLeast, 0, 1},
                                                            {SentMixture::kEven, 1, 1},
                                                            {SentMixture::kLeast, 3, 1}}};

  Status send(AttackerView& view, std::span<const float> wish, StrongestUpdateOptions rule,
              std::span<float> update) override {
    noise_.resize(wish.size());
    for (float& value : noise_) value = static_cast<float>(view.random().normal());
    rule.noise = noise_;
    const bool splits = view.reference != nullptr && !view.reference->per_class.empty();
    double most = -1;
    tried_.resize(update.size());
    for (const Candidate& candidate : kCandidates) {
      rule.mixture = candidate.mixture;
      rule.follow = candidate.follow;
      rule.spread = candidate.spread;
      TRY_STATUS(Own::send(view, wish, rule, tried_));
      const double harm = harm_of(view, wish, tried_);
      if (harm > most) {
        most = harm;
        std::copy(tried_.begin(), tried_.end(), update.begin());
      }
      if (!splits) break;  // the candidates differ in what a guard sees that splits updates
    }
    return {};
  }

  /// How far the guard's copy moves the model along the wish.
  double harm_of(AttackerView& view, std::span<const float> wish, std::span<const float> candidate) {
    const std::unique_ptr<Guard> copy = view.guard->copy();
    if (copy == nullptr || view.newest_model.empty()) return 0;
    next_.resize(candidate.size());
    Submission submission;
    submission.client = view.client;
    submission.vector = candidate;
    submission.base_model = view.base_model;
    submission.reference = view.reference;
    submission.parameters = view.newest_model;
    submission.next = next_;
    submission.rate = view.rate;
    const Decision decision = copy->judge(submission);
    if (!decision.verdict.accepted) return 0;
    double harm = 0;
    if (decision.wrote_next) {
      for (std::size_t i = 0; i < wish.size(); ++i) {
        harm += static_cast<double>(view.newest_model[i] - next_[i]) * static_cast<double>(wish[i]);
      }
    } else if (!decision.direction.empty()) {
      harm = static_cast<double>(view.rate) * decision.scale * dot_and_norm(decision.direction, wish).dot;
    }
    return harm;
  }

  std::vector<float> noise_;
  std::vector<float> tried_;
  std::vector<float> next_;
};

}  // namespace

AttackKind own_short_kind() {
  return white_box_kind<OwnShort>("own-short", "white-box: residuals shorter than the others'",
                                  {{"length", 0.3, 1e-6, 100, "in the clients' median lengths"}});
}

AttackKind own_weights_kind() {
  return white_box_kind<OwnWeights>("own-weights",
                                    "white-box: an honest residual under the most harmful class weights");
}

AttackKind own_noisy_kind() {
  return white_box_kind<OwnNoisy>("own-noisy", "white-box: a small push hidden in noise",
                                  {{"push", 0.3, 0, 1, "share of the residual's length that pushes"}});
}

AttackKind own_unseen_kind() {
  return white_box_kind<OwnUnseen>("own-unseen",
                                   "white-box: residuals that do not show in SpanGuard 2's sketches");
}

AttackKind own_bursts_kind() {
  return white_box_kind<OwnBursts>(
      "own-bursts", "white-box, honest while the reference update is fresh",
      {{"quiet", 0.5, 0, 1, "share of the time between references that is honest"}});
}

AttackKind own_best_kind() {
  return white_box_kind<OwnBest>("own-best",
                                 "white-box: tries nine updates on a copy of the guard, sends the worst");
}

}  // namespace aflguard::lab
