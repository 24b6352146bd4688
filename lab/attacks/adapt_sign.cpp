#include <cmath>

#include "core/aggregation/vectors/vector_kernels.h"
#include "lab/attacks/craft/strongest_update.h"
#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {
namespace {

/// The longest -gamma sign(mean) that AFLGuard still accepts; nothing at all when it accepts none.
class AdaptSign final : public Attack {
 public:
  explicit AdaptSign(const AttackSettings& settings)
      : sample_(honest_sample(settings)), lambda_(settings.lambda) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.honest_updates(sample_, update, {}));
    for (float& coordinate : update) {
      coordinate = coordinate > 0 ? 1.0F : (coordinate < 0 ? -1.0F : 0.0F);
    }
    // ||-gamma s - g_s||^2 = (lambda ||g_s||)^2 is quadratic in gamma; its larger root is wanted.
    const auto [along, length] = dot_and_norm(update, view.reference->vector);
    const double lambda = lambda_ * kSafety;
    const double norm = view.reference->norm;
    const double under_root = along * along + length * (lambda * lambda - 1) * norm * norm;
    const double gamma = under_root >= 0 && length > 0 ? (std::sqrt(under_root) - along) / length : 0;
    for (float& coordinate : update) coordinate *= static_cast<float>(gamma > 0 ? -gamma : 0);
    return {};
  }

 private:
  std::size_t sample_;
  double lambda_;
};

}  // namespace

AttackKind adapt_sign_kind() {
  return {.name = "adapt-sign",
          .summary = "adaptive: the longest -gamma sign(mean) that AFLGuard accepts",
          .needs = {.honest_updates = true, .reference = true},
          .options = {kHonestSample},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptSign>(settings);
          }};
}

}  // namespace aflguard::lab
