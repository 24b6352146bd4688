#include "lab/attacks/attacks.h"

namespace aflguard::lab {
namespace {

/// The client's own honest update, reversed and scaled.
class GradientDeviation final : public Attack {
 public:
  explicit GradientDeviation(double factor) : factor_(static_cast<float>(factor)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.honest_update(view.client, update));
    for (float& coordinate : update) coordinate *= -factor_;
    return {};
  }

 private:
  float factor_;
};

}  // namespace

AttackKind gradient_deviation_kind() {
  return {.name = "gd",
          .summary = "gradient deviation: -10 times the client's own update",
          .targeted = false,
          .needs_reference = false,
          .options = {{"factor", 10, 0, 1e9, "how far the update is turned around"}},
          .make = [](const ExperimentSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<GradientDeviation>(option_or(settings.attack_options, "factor", 10));
          }};
}

}  // namespace aflguard::lab
