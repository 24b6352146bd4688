#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Turns around its update on the oldest model that the gateway still takes.
class OldestBase final : public Attack {
 public:
  explicit OldestBase(double factor) : factor_(static_cast<float>(factor)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.own_update(update));
    for (float& coordinate : update) coordinate *= -factor_;
    return {};
  }

 private:
  float factor_;
};

}  // namespace

AttackKind oldest_base_kind() {
  return {.name = "oldest-base",
          .summary = "-factor times its own update on the oldest model that the gateway still takes",
          .needs = {.oldest_base = true},
          .options = {{"factor", 1, 0, 1e9, "how far the update is turned around"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<OldestBase>(settings.option("factor", 1));
          }};
}

}  // namespace aflguard::lab
