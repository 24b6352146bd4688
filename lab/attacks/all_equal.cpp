#include <algorithm>

#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// One number in every coordinate.
class AllEqual final : public Attack {
 public:
  explicit AllEqual(double value) : value_(static_cast<float>(value)) {}

  Status craft(AttackerView& /*view*/, std::span<float> update) override {
    std::fill(update.begin(), update.end(), value_);
    return {};
  }

 private:
  float value_;
};

}  // namespace

AttackKind all_equal_kind() {
  return {.name = "all-equal",
          .summary = "one number in every coordinate",
          .options = {{"value", 1, -1e30, 1e30, "that number"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AllEqual>(settings.option("value", 1));
          }};
}

}  // namespace aflguard::lab
