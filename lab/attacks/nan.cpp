#include <algorithm>
#include <limits>

#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Not a number in every coordinate.
class Nan final : public Attack {
 public:
  Status craft(AttackerView& /*view*/, std::span<float> update) override {
    std::fill(update.begin(), update.end(), std::numeric_limits<float>::quiet_NaN());
    return {};
  }
};

}  // namespace

AttackKind nan_kind() {
  return {.name = "nan",
          .summary = "NaN in every coordinate",
          .make = [](const AttackSettings&) -> std::unique_ptr<Attack> { return std::make_unique<Nan>(); },
          .not_finite = true};
}

}  // namespace aflguard::lab
