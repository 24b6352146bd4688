#include <map>

#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Honest for its first answers, so that guards which remember devices trust it; then against its own update.
class Sleeper final : public Attack {
 public:
  Sleeper(double answers, double factor)
      : answers_(static_cast<std::uint64_t>(answers)), factor_(static_cast<float>(factor)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.own_update(update));
    if (given_[view.client]++ < answers_) return {};
    for (float& coordinate : update) coordinate *= -factor_;
    return {};
  }

 private:
  std::uint64_t answers_;
  float factor_;
  std::map<ClientId, std::uint64_t> given_;
};

}  // namespace

AttackKind sleeper_kind() {
  return {.name = "sleeper",
          .summary = "honest for its first answers, then -factor times its own update",
          .options = {{"answers", 10, 0, 1e9, "honest ones per device"},
                      {"factor", 3, 0, 1e9, "how far the update is turned around"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<Sleeper>(settings.option("answers", 10), settings.option("factor", 3));
          }};
}

}  // namespace aflguard::lab
