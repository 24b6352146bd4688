#include <algorithm>
#include <cmath>

#include "core/aggregation/vectors/vector_kernels.h"
#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Xie et al., PoisonedFL: one random sign per coordinate for the whole run, so that what gets through adds
/// up. The magnitudes follow what the model moved besides the attack; the length shrinks whenever a test says
/// that the model has not followed the signs. One update is one step here, so lengths are in units of the
/// device's own honest update instead of a round's.
class PoisonedFl final : public Attack {
 public:
  explicit PoisonedFl(const AttackSettings& settings)
      : factor_(settings.option("factor", 8)),
        shrink_(settings.option("shrink", 0.7)),
        every_(static_cast<std::uint64_t>(settings.option("every", 50))) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    const std::span<const float> model = view.newest_model.empty() ? view.base_model : view.newest_model;
    TRY_STATUS(view.own_update(update));
    const double honest = std::sqrt(squared_norm(update));
    if (signs_.size() != update.size()) begin(view, model);
    if (++turns_ % every_ == 0) examine(model);
    const std::vector<double> magnitudes = magnitudes_at(model);
    for (std::size_t i = 0; i < update.size(); ++i) {
      update[i] = static_cast<float>(factor_ * honest * magnitudes[i]) * signs_[i];
    }
    last_.assign(update.begin(), update.end());
    before_.assign(model.begin(), model.end());
    return {};
  }

 private:
  static constexpr double kLeastFactor = 0.5;

  void begin(AttackerView& view, std::span<const float> model) {
    signs_.resize(model.size());
    for (float& sign : signs_) sign = view.random().uniform() < 0.5 ? -1.0F : 1.0F;
    examined_.assign(model.begin(), model.end());
  }

  /// Has the model followed the signs more often than chance would have it, at 1 %?
  void examine(std::span<const float> model) {
    double followed = 0;
    for (std::size_t i = 0; i < model.size(); ++i) {
      if ((examined_[i] - model[i]) * signs_[i] > 0) followed += 1;
    }
    const auto count = static_cast<double>(model.size());
    constexpr double kOnePercent = 2.326;
    if (followed < count / 2 + kOnePercent * std::sqrt(count) / 2) {
      factor_ = std::max(kLeastFactor, shrink_ * factor_);
    }
    examined_.assign(model.begin(), model.end());
  }

  /// Of length 1: how much each coordinate moved besides what the last malicious update explains.
  [[nodiscard]] std::vector<double> magnitudes_at(std::span<const float> model) const {
    std::vector<double> rest(model.size(), 1);
    double moved = 0;
    double sent = 0;
    if (!before_.empty()) {
      for (std::size_t i = 0; i < model.size(); ++i) {
        const double step = static_cast<double>(before_[i]) - static_cast<double>(model[i]);
        moved += step * step;
        sent += static_cast<double>(last_[i]) * static_cast<double>(last_[i]);
      }
    }
    if (moved > 0 && sent > 0) {
      for (std::size_t i = 0; i < model.size(); ++i) {
        const double step = static_cast<double>(before_[i]) - static_cast<double>(model[i]);
        rest[i] = std::fabs(step / std::sqrt(moved) - static_cast<double>(last_[i]) / std::sqrt(sent));
      }
    }
    double squares = 0;
    for (const double value : rest) squares += value * value;
    if (squares > 0) {
      for (double& value : rest) value /= std::sqrt(squares);
    }
    return rest;
  }

  double factor_;
  double shrink_;
  std::uint64_t every_;
  std::uint64_t turns_ = 0;
  std::vector<float> signs_;
  std::vector<float> examined_;  ///< the model at the last test
  std::vector<float> before_;    ///< the model at the last turn
  std::vector<float> last_;      ///< the last malicious update
};

}  // namespace

AttackKind poisoned_fl_kind() {
  return {.name = "poisoned-fl",
          .summary = "PoisonedFL (Xie et al.): one sign per coordinate for the whole run, length by success",
          .options = {{"factor", 8, 0, 1e9, "first length, in the device's honest updates"},
                      {"shrink", 0.7, 0.01, 1, "of the length after a test that failed"},
                      {"every", 50, 1, 1e9, "malicious updates between two tests"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<PoisonedFl>(settings);
          }};
}

}  // namespace aflguard::lab
