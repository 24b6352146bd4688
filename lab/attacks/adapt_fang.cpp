#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {
namespace {

/// Fang et al.: just beyond the honest spread, on the other side of the mean: mu - sign(mu) b sigma.
class AdaptFang final : public Attack {
 public:
  explicit AdaptFang(std::size_t sample) : sample_(sample) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    deviation_.resize(update.size());
    TRY_STATUS(view.honest_updates(sample_, update, deviation_));
    for (std::size_t i = 0; i < update.size(); ++i) {
      const double away = view.random().uniform(3, 4) * static_cast<double>(deviation_[i]);
      const double sign = update[i] > 0 ? 1 : (update[i] < 0 ? -1 : 0);
      update[i] = static_cast<float>(static_cast<double>(update[i]) - sign * away);
    }
    return {};
  }

 private:
  std::size_t sample_;
  std::vector<float> deviation_;
};

}  // namespace

AttackKind adapt_fang_kind() {
  return {.name = "adapt-fang",
          .summary = "adaptive, Fang et al.: mean - sign(mean) b deviation, b in [3, 4]",
          .needs = {.honest_updates = true},
          .options = {kHonestSample},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptFang>(honest_sample(settings));
          }};
}

}  // namespace aflguard::lab
