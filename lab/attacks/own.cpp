#include <algorithm>

#include "lab/attacks/honest_sample.h"
#include "lab/attacks/strongest_update.h"

namespace aflguard::lab {
namespace {

constexpr NamedOption kFollow = {"follow", 1, 0, 2,
                                 "SpanGuard: 1 shapes the residual to what passes in the watched directions, "
                                 "0 goes straight along the wish, 2 stays within these directions"};

/// Attackers who know the guard, its state and its reference, and send the strongest update that it accepts.
/// They differ in where they want the model to go and when.
class Own : public Attack {
 public:
  explicit Own(const AttackSettings& settings)
      : settings_(settings), rule_{settings.lambda, settings.option("follow", kFollow.default_value)} {}

  Status craft(AttackerView& view, std::span<float> update) override {
    wish_.resize(update.size());
    TRY_STATUS(wish(view, wish_));
    strongest_update(*view.guard, view.reference, rule_, wish_, update);
    return {};
  }

 protected:
  /// Against the honest direction.
  virtual Status wish(AttackerView& view, std::span<float> out) {
    TRY_STATUS(view.honest_updates(honest_sample(settings_), out, {}));
    negate(out);
    return {};
  }
  static void negate(std::span<float> values) {
    for (float& value : values) value = -value;
  }
  [[nodiscard]] const AttackSettings& settings() const { return settings_; }

 private:
  AttackSettings settings_;
  StrongestUpdateOptions rule_;
  std::vector<float> wish_;
};

/// Knows its own samples only.
class OwnBlind final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    TRY_STATUS(view.own_update(out));
    negate(out);
    return {};
  }
};

/// One random direction from the first to the last update.
class OwnFixed final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    if (direction_.empty()) {
      direction_.resize(out.size());
      for (float& value : direction_) value = static_cast<float>(view.random().normal());
    }
    std::copy(direction_.begin(), direction_.end(), out.begin());
    return {};
  }
  std::vector<float> direction_;
};

/// Another random direction every time.
class OwnNoise final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    for (float& value : out) value = static_cast<float>(view.random().normal());
    return {};
  }
};

/// Honest every other time, so that what is remembered of the client looks harmless.
class OwnAlternating final : public Own {
 public:
  using Own::Own;
  Status craft(AttackerView& view, std::span<float> update) override {
    honest_ = !honest_;
    return honest_ ? view.own_update(update) : Own::craft(view, update);
  }

 private:
  bool honest_ = false;
};

/// Honest for the first half of the run.
class OwnLate final : public Own {
 public:
  using Own::Own;
  Status craft(AttackerView& view, std::span<float> update) override {
    if (2 * view.iteration < settings().iterations) return view.own_update(update);
    return Own::craft(view, update);
  }
};

/// Ruins one class: uphill on the loss of the first class's samples.
class OwnClass final : public Own {
  using Own::Own;
  Status wish(AttackerView& view, std::span<float> out) override {
    TRY(const Dataset* samples, view.samples());
    if (samples->regression()) return Own::wish(view, out);
    const std::vector<std::int64_t>& labels = samples->labels;
    std::vector<std::size_t> batch;
    while (batch.size() < view.batch_size) {
      const std::size_t candidate = view.random().below(labels.size());
      if (labels[candidate] == 0) batch.push_back(candidate);
    }
    TRY_STATUS(view.update_on(buffer_.gather(*samples, batch), out));
    negate(out);
    return {};
  }
  BatchBuffer buffer_;
};

template <typename Kind>
AttackKind kind_of(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .needs = {.guard = true},
          .options = {kHonestSample, kFollow},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<Kind>(settings);
          }};
}

}  // namespace

AttackKind own_kind() {
  return kind_of<Own>("own", "white-box: the strongest accepted update against the honest direction");
}

AttackKind own_blind_kind() {
  return kind_of<OwnBlind>("own-blind", "white-box, but of the data it knows its own samples only");
}

AttackKind own_fixed_kind() {
  return kind_of<OwnFixed>("own-fixed", "white-box: one random direction, always the same");
}

AttackKind own_alternating_kind() {
  return kind_of<OwnAlternating>("own-alternating", "white-box, honest every other time");
}

AttackKind own_noise_kind() {
  return kind_of<OwnNoise>("own-noise", "white-box: another random direction every time");
}

AttackKind own_late_kind() {
  return kind_of<OwnLate>("own-late", "white-box, honest for the first half of the run");
}

AttackKind own_class_kind() {
  return kind_of<OwnClass>("own-class", "white-box: ruins the first class");
}

AttackKind sybil_kind() {
  AttackKind kind =
      kind_of<Own>("sybil", "as own, under a new identity every time (certificates prevent it)");
  kind.needs.new_identity = true;
  return kind;
}

}  // namespace aflguard::lab
