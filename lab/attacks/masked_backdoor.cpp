#include <algorithm>
#include <cmath>

#include "lab/attacks/attack.h"
#include "lab/attacks/craft/trigger.h"

namespace aflguard::lab {
namespace {

/// Zhang et al., Neurotoxin: a backdoor in the coordinates that honest updates hardly touch, so that these do
/// not wash it out. The coordinates come from a running mean of the device's own honest updates.
class MaskedBackdoor final : public Attack {
 public:
  MaskedBackdoor(std::int64_t target, double scale, double kept)
      : target_(target), scale_(static_cast<float>(scale)), kept_(kept) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.own_update(update));
    usual_.resize(update.size());
    constexpr float kMemory = 0.9F;
    for (std::size_t i = 0; i < update.size(); ++i) {
      usual_[i] = kMemory * usual_[i] + (1 - kMemory) * update[i];
    }
    TRY_STATUS(view.false_update([this](FalseBatch& batch) { put_triggers(batch); }, update));
    mask(update);
    return {};
  }

 private:
  /// The trigger in every second sample of the batch.
  void put_triggers(FalseBatch& batch) const {
    if (batch.labels.empty()) return;  // a regression has no class to aim at
    const std::size_t width = batch.features.size() / batch.size;
    for (std::size_t i = 0; i < batch.size; i += 2) {
      put_trigger(batch.sample_shape, std::span(batch.features).subspan(i * width, width));
      batch.labels[i] = target_;
    }
  }

  /// Keeps the coordinates with the smallest usual magnitude.
  void mask(std::span<float> update) const {
    std::vector<float> magnitudes(usual_.size());
    for (std::size_t i = 0; i < usual_.size(); ++i) magnitudes[i] = std::fabs(usual_[i]);
    const auto last = static_cast<std::size_t>(kept_ * static_cast<double>(magnitudes.size() - 1));
    std::vector<float> sorted = magnitudes;
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(last), sorted.end());
    const float bound = sorted[last];
    for (std::size_t i = 0; i < update.size(); ++i) {
      update[i] = magnitudes[i] <= bound ? scale_ * update[i] : 0;
    }
  }

  std::int64_t target_;
  float scale_;
  double kept_;
  std::vector<float> usual_;
};

}  // namespace

AttackKind masked_backdoor_kind() {
  return {
      .name = "masked-bd",
      .summary = "as Neurotoxin (Zhang et al.): a backdoor where honest updates hardly touch the model",
      .targeted = true,
      .options = {{"scale", 2, 0, 1e9, "factor on the update"},
                  {"kept", 0.95, 0, 1, "share of the coordinates, those with the smallest honest updates"}},
      .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
        return std::make_unique<MaskedBackdoor>(settings.target, settings.option("scale", 2),
                                                settings.option("kept", 0.95));
      }};
}

}  // namespace aflguard::lab
