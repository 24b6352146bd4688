#include <algorithm>

#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Nothing at all: slows the model down and pulls medians towards zero.
class Zero final : public Attack {
 public:
  Status craft(AttackerView& /*view*/, std::span<float> update) override {
    std::fill(update.begin(), update.end(), 0.0F);
    return {};
  }
};

}  // namespace

AttackKind zero_kind() {
  return {.name = "zero",
          .summary = "zero in every coordinate",
          .make = [](const AttackSettings&) -> std::unique_ptr<Attack> { return std::make_unique<Zero>(); }};
}

}  // namespace aflguard::lab
