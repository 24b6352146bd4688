#include <algorithm>
#include <limits>

#include "lab/attacks/attack.h"

namespace aflguard::lab {
namespace {

/// Not a number, infinities of both signs, in turns and in one coordinate or all.
class NotFinite final : public Attack {
 public:
  Status craft(AttackerView& view, std::span<float> update) override {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity};
    TRY_STATUS(view.own_update(update));
    const float bad = kBad[turn_++ % 3];
    if (turn_ % 2 == 0) {
      std::fill(update.begin(), update.end(), bad);
    } else {
      update[view.random().below(update.size())] = bad;
    }
    return {};
  }

 private:
  std::size_t turn_ = 0;
};

}  // namespace

AttackKind not_finite_kind() {
  return {
      .name = "not-finite",
      .summary = "NaN and infinities",
      .make = [](const AttackSettings&) -> std::unique_ptr<Attack> { return std::make_unique<NotFinite>(); },
      .not_finite = true};
}

}  // namespace aflguard::lab
