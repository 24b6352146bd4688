#include "lab/attacks/craft/honest_updates.h"
#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {
namespace {

/// Xie et al., inner product manipulation: a short step against the honest mean.
class InnerProduct final : public Attack {
 public:
  InnerProduct(std::optional<std::size_t> sample, double factor) : honest_(sample), factor_(factor) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY(const auto seen, honest_.look(view, update.size()));
    const Moments moments = moments_of(seen);
    for (std::size_t i = 0; i < update.size(); ++i) {
      update[i] = static_cast<float>(-factor_ * moments.mean[i]);
    }
    return {};
  }

 private:
  HonestUpdates honest_;
  double factor_;
};

}  // namespace

AttackKind ipm_kind() {
  return {.name = "ipm",
          .summary = "inner product manipulation (Xie et al.): -factor times the honest mean",
          .needs = {.honest_updates = true},
          .options = {kHonestSample, {"factor", 0.5, 0, 1e9, "length of the step against the mean"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<InnerProduct>(honest_sample(settings), settings.option("factor", 0.5));
          },
          .make_on_device = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<InnerProduct>(std::nullopt, settings.option("factor", 0.5));
          },
          .on_device =
              "inner product manipulation: -factor times the mean of the device's latest honest updates"};
}

}  // namespace aflguard::lab
