#include <cmath>

#include "core/aggregation/vectors/vector_kernels.h"
#include "lab/attacks/attacks.h"
#include "lab/attacks/benign_sample.h"

namespace aflguard::lab {
namespace {

// Updates on the edge of AFLGuard's ball stay this much inside: float rounding would put some outside.
constexpr double kSafety = 1 - 1e-5;

/// Straight against the benign direction, as strong as it likes.
class AdaptReverse final : public Attack {
 public:
  AdaptReverse(std::size_t sample, double factor) : sample_(sample), factor_(static_cast<float>(factor)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.benign_updates(sample_, update));
    for (float& coordinate : update) coordinate *= -factor_;
    return {};
  }

 private:
  std::size_t sample_;
  float factor_;
};

/// Fang et al.: just beyond the benign spread, on the other side of the mean: mu - sign(mu) b sigma.
class AdaptFang final : public Attack {
 public:
  explicit AdaptFang(std::size_t sample) : sample_(sample) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    deviation_.resize(update.size());
    TRY_STATUS(view.benign_updates(sample_, update, deviation_));
    for (std::size_t i = 0; i < update.size(); ++i) {
      const double away = view.random().uniform(3, 4) * static_cast<double>(deviation_[i]);
      const double sign = update[i] > 0 ? 1 : (update[i] < 0 ? -1 : 0);
      update[i] = static_cast<float>(static_cast<double>(update[i]) - sign * away);
    }
    return {};
  }

 private:
  std::size_t sample_;
  std::vector<float> deviation_;
};

/// The longest -gamma sign(mean) that AFLGuard still accepts; nothing at all when it accepts none.
class AdaptSign final : public Attack {
 public:
  explicit AdaptSign(std::size_t sample) : sample_(sample) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.benign_updates(sample_, update));
    for (float& coordinate : update) {
      coordinate = coordinate > 0 ? 1.0F : (coordinate < 0 ? -1.0F : 0.0F);
    }
    // ||-gamma s - g_s||^2 = (lambda ||g_s||)^2 is quadratic in gamma; its larger root is wanted.
    const auto [along, length] = dot_and_norm(update, view.reference->vector);
    const double lambda = view.settings().lambda * kSafety;
    const double norm = view.reference->norm;
    const double under_root = along * along + length * (lambda * lambda - 1) * norm * norm;
    const double gamma = under_root >= 0 && length > 0 ? (std::sqrt(under_root) - along) / length : 0;
    for (float& coordinate : update) coordinate *= static_cast<float>(gamma > 0 ? -gamma : 0);
    return {};
  }

 private:
  std::size_t sample_;
};

/// The accepted point that moves the model most against the benign direction.
class AdaptBoundary final : public Attack {
 public:
  explicit AdaptBoundary(std::size_t sample) : sample_(sample) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY_STATUS(view.benign_updates(sample_, update));
    const double norm = std::sqrt(squared_norm(update));
    const double radius = view.settings().lambda * kSafety * view.reference->norm;
    const double scale = norm > 0 ? radius / norm : 0;
    for (std::size_t i = 0; i < update.size(); ++i) {
      update[i] = static_cast<float>(static_cast<double>(view.reference->vector[i]) -
                                     scale * static_cast<double>(update[i]));
    }
    return {};
  }

 private:
  std::size_t sample_;
};

}  // namespace

AttackKind adapt_reverse_kind() {
  return {.name = "adapt-reverse",
          .summary = "adaptive, reversed: -100 times the mean benign update (fits the paper's rows)",
          .targeted = false,
          .needs_reference = false,
          .options = {kBenignSample, {"factor", 100, 0, 1e9, "how far the mean is turned around"}},
          .make = [](const ExperimentSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptReverse>(benign_sample(settings),
                                                  option_or(settings.attack_options, "factor", 100));
          }};
}

AttackKind adapt_fang_kind() {
  return {.name = "adapt-fang",
          .summary = "adaptive, Fang et al.: mean - sign(mean) b deviation, b in [3, 4]",
          .targeted = false,
          .needs_reference = false,
          .options = {kBenignSample},
          .make = [](const ExperimentSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptFang>(benign_sample(settings));
          }};
}

AttackKind adapt_sign_kind() {
  return {.name = "adapt-sign",
          .summary = "adaptive: the longest -gamma sign(mean) that AFLGuard accepts",
          .targeted = false,
          .needs_reference = true,
          .options = {kBenignSample},
          .make = [](const ExperimentSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptSign>(benign_sample(settings));
          }};
}

AttackKind adapt_boundary_kind() {
  return {.name = "adapt-boundary",
          .summary = "adaptive: the point AFLGuard accepts that lies furthest against the benign direction",
          .targeted = false,
          .needs_reference = true,
          .options = {kBenignSample},
          .make = [](const ExperimentSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<AdaptBoundary>(benign_sample(settings));
          }};
}

}  // namespace aflguard::lab
