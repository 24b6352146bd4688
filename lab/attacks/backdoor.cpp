#include "lab/attacks/attack.h"
#include "lab/attacks/craft/trigger.h"

namespace aflguard::lab {
namespace {

/// A batch and its copies with trigger and target label; their summed gradient, scaled up.
class Backdoor final : public Attack {
 public:
  Backdoor(std::int64_t target, double scale) : target_(target), scale_(static_cast<float>(scale)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.false_update([this](FalseBatch& batch) { add_triggered(batch); }, update));
    for (float& coordinate : update) coordinate *= scale_;
    return {};
  }

 private:
  void add_triggered(FalseBatch& batch) const {
    const std::size_t honest = batch.features.size();
    const std::size_t width = honest / batch.size;
    batch.features.resize(2 * honest);
    for (std::size_t i = 0; i < honest; ++i) batch.features[honest + i] = batch.features[i];
    batch.labels.resize(2 * batch.size, target_);
    for (std::size_t i = batch.size; i < 2 * batch.size; ++i) {
      put_trigger(batch.sample_shape, std::span(batch.features).subspan(i * width, width));
    }
    batch.size *= 2;
  }

  std::int64_t target_;
  float scale_;
};

}  // namespace

AttackKind backdoor_kind() {
  return {.name = "bd",
          .summary = "backdoor: triggered copies with the target label, scaled by the number of clients",
          .needs = {.fleet_size = true},
          .targeted = true,
          .options = {{"scale", 0, 0, 1e9, "factor on the update; 0: the number of clients"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            const double scale = settings.option("scale", 0);
            return std::make_unique<Backdoor>(settings.target,
                                              scale > 0 ? scale : static_cast<double>(settings.devices));
          },
          .trains_first = false};
}

}  // namespace aflguard::lab
