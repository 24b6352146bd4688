#pragma once

#include <algorithm>
#include <vector>

#include "lab/attacks/craft/strongest_update.h"
#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {

inline constexpr NamedOption kFollow = {
    "follow", 1, 0, 2,
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
    return send(view, wish_, rule_, update);
  }

 protected:
  /// Against the honest direction.
  virtual Status wish(AttackerView& view, std::span<float> out) {
    TRY_STATUS(view.honest_updates(honest_sample(settings_), out, {}));
    negate(out);
    return {};
  }
  /// The wish is known: what is sent. `rule` may be changed.
  virtual Status send(AttackerView& view, std::span<const float> wish, StrongestUpdateOptions rule,
                      std::span<float> update) {
    strongest_update(*view.guard, view.reference, rule, wish, update);
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

/// The kind of such an attack.
template <typename Kind>
AttackKind white_box_kind(std::string_view name, std::string_view summary,
                          std::vector<NamedOption> more = {}) {
  std::vector<NamedOption> options = {kHonestSample, kFollow};
  options.insert(options.end(), more.begin(), more.end());
  return {.name = name,
          .summary = summary,
          .needs = {.guard = true},
          .options = std::move(options),
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<Kind>(settings);
          }};
}

}  // namespace aflguard::lab
