#include <optional>

#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {
namespace {

/// Straight against the honest direction, as strong as it likes. Without a sample of the others, as on a
/// device, its own update stands for theirs.
class AdaptReverse final : public Attack {
 public:
  AdaptReverse(std::optional<std::size_t> sample, double factor)
      : sample_(sample), factor_(static_cast<float>(factor)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(sample_ ? view.honest_updates(*sample_, update, {}) : view.own_update(update));
    for (float& coordinate : update) coordinate *= -factor_;
    return {};
  }

 private:
  std::optional<std::size_t> sample_;
  float factor_;
};

}  // namespace

AttackKind adapt_reverse_kind() {
  return {.name = "adapt-reverse",
          .summary = "adaptive, reversed: -100 times the mean honest update (fits the paper's rows)",
          .needs = {.honest_updates = true},
          .options = {kHonestSample, {"factor", 100, 0, 1e9, "how far the mean is turned around"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptReverse>(honest_sample(settings), settings.option("factor", 100));
          },
          .make_on_device = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptReverse>(std::nullopt, settings.option("factor", 100));
          },
          .on_device = "adaptive, reversed: -100 times the device's own honest update"};
}

}  // namespace aflguard::lab
