#include "lab/attacks/attacks.h"
#include "lab/tasks/trigger.h"

namespace aflguard::lab {
namespace {

/// A batch and its copies with trigger and target label; their summed gradient, scaled up.
class Backdoor final : public Attack {
 public:
  Backdoor(std::int64_t target, double scale) : target_(target), scale_(static_cast<float>(scale)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    const Batch honest = buffer_.gather(view.train(), view.draw_batch(view.client));
    const std::size_t width = view.train().sample_size();
    features_.assign(honest.features.begin(), honest.features.end());
    features_.insert(features_.end(), honest.features.begin(), honest.features.end());
    labels_.assign(honest.labels.begin(), honest.labels.end());
    labels_.resize(2 * honest.size, target_);
    for (std::size_t i = honest.size; i < 2 * honest.size; ++i) {
      put_trigger(view.train().sample_shape, std::span(features_).subspan(i * width, width));
    }
    TRY_STATUS(view.update_on({2 * honest.size, features_, labels_, {}}, update));
    for (float& coordinate : update) coordinate *= scale_;
    return {};
  }

 private:
  std::int64_t target_;
  float scale_;
  BatchBuffer buffer_;
  std::vector<float> features_;
  std::vector<std::int64_t> labels_;
};

}  // namespace

AttackKind backdoor_kind() {
  return {.name = "bd",
          .summary = "backdoor: triggered copies with the target label, scaled by the number of clients",
          .targeted = true,
          .needs_reference = false,
          .options = {{"scale", 0, 0, 1e9, "factor on the update; 0: the number of clients"}},
          .make = [](const ExperimentSettings& settings) -> std::unique_ptr<Attack> {
            const double scale = option_or(settings.attack_options, "scale", 0);
            const auto known = find_lab_dataset(settings.dataset);
            return std::make_unique<Backdoor>(known ? (*known)->backdoor_target : 0,
                                              scale > 0 ? scale : static_cast<double>(settings.clients));
          }};
}

}  // namespace aflguard::lab
