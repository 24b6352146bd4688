#include <cmath>

#include "core/aggregation/vectors/vector_kernels.h"
#include "lab/attacks/craft/strongest_update.h"
#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {
namespace {

/// g_s - radius * direction / ||direction||: the accepted point that lies furthest against the direction.
/// `update` may be `direction`.
void to_boundary(const ReferenceUpdate& reference, double radius, std::span<const float> direction,
                 double norm, std::span<float> update) {
  const double scale = norm > 0 ? radius / norm : 0;
  for (std::size_t i = 0; i < update.size(); ++i) {
    update[i] = static_cast<float>(static_cast<double>(reference.vector[i]) -
                                   scale * static_cast<double>(direction[i]));
  }
}

/// The accepted point that moves the model most against the honest direction.
class AdaptBoundary final : public Attack {
 public:
  explicit AdaptBoundary(const AttackSettings& settings)
      : sample_(honest_sample(settings)), lambda_(settings.lambda) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.honest_updates(sample_, update, {}));
    const double norm = std::sqrt(squared_norm(update));
    to_boundary(*view.reference, lambda_ * kSafety * view.reference->norm, update, norm, update);
    return {};
  }

 private:
  std::size_t sample_;
  double lambda_;
};

/// A device goes against what its own honest updates have in common. Without the trusted samples it cannot
/// see g_s either and takes its own update g for it, scaled from its mini-batch to the trusted set: s g -
/// lambda s ||g|| g / ||g|| = s (1 - lambda) g.
class AdaptBoundaryOnDevice final : public Attack {
 public:
  explicit AdaptBoundaryOnDevice(const AttackSettings& settings) : settings_(settings) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.own_update(update));
    if (view.reference == nullptr) {
      const double scale = static_cast<double>(settings_.trusted_size) / static_cast<double>(view.batch_size);
      const auto factor = static_cast<float>(scale * (1 - settings_.lambda * kSafety));
      for (float& coordinate : update) coordinate *= factor;
      return {};
    }
    direction_.resize(update.size());
    const auto memory = static_cast<float>(settings_.memory);
    for (std::size_t i = 0; i < update.size(); ++i) direction_[i] = memory * direction_[i] + update[i];
    to_boundary(*view.reference, settings_.reach * settings_.lambda * view.reference->norm, direction_,
                length(direction_), update);
    return {};
  }

 private:
  static double length(std::span<const float> vector) {
    double squares = 0;
    for (const float value : vector) squares += static_cast<double>(value) * static_cast<double>(value);
    return std::sqrt(squares);
  }

  AttackSettings settings_;
  std::vector<float> direction_;  ///< of no particular length
};

}  // namespace

AttackKind adapt_boundary_kind() {
  return {.name = "adapt-boundary",
          .summary = "adaptive: the point AFLGuard accepts that lies furthest against the honest direction",
          .needs = {.honest_updates = true, .reference = true},
          .options = {kHonestSample},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptBoundary>(settings);
          },
          .make_on_device = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptBoundaryOnDevice>(settings);
          },
          .on_device =
              "adaptive: the point against the honest direction that AFLGuard accepts, as far as the device "
              "knows: "
              "with --trusted from the guard's samples, else from its own update"};
}

}  // namespace aflguard::lab
