#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// The device's own honest update, reversed and scaled.
class GradientDeviation final : public Attack {
 public:
  explicit GradientDeviation(double factor) : factor_(static_cast<float>(factor)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.own_update(update));
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
          .options = {{"factor", 10, 0, 1e9, "how far the update is turned around"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<GradientDeviation>(settings.option("factor", 10));
          }};
}

}  // namespace aflguard::lab
