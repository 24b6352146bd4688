#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Noise instead of an update.
class Gauss final : public Attack {
 public:
  explicit Gauss(double deviation) : deviation_(deviation) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    for (float& coordinate : update) coordinate = static_cast<float>(deviation_ * view.random().normal());
    return {};
  }

 private:
  double deviation_;
};

}  // namespace

AttackKind gauss_kind() {
  return {.name = "gauss",
          .summary = "Gaussian noise N(0, 200^2) in every coordinate",
          .options = {{"deviation", 200, 0, 1e30, "standard deviation of the noise"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<Gauss>(settings.option("deviation", 200));
          }};
}

}  // namespace aflguard::lab
