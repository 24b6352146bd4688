#include <algorithm>
#include <cmath>
#include <optional>

#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {
namespace {

/// Karimireddy et al.: every malicious device answers as one honest device would, so that its data count more
/// than the others'. Chosen at the first turn: the device whose update lies furthest along the direction in
/// which honest updates differ most.
class Mimic final : public Attack {
 public:
  Status craft(AttackerView& view, std::span<float> update) override {
    if (view.honest_devices() == 0) return view.own_update(update);
    if (!victim_) TRY_STATUS(choose(view, update.size()));
    return view.honest_answer(*victim_, update);
  }

 private:
  Status choose(AttackerView& view, std::size_t dimension) {
    constexpr std::size_t kMostCandidates = 64;
    std::vector<std::vector<float>> updates(std::min(view.honest_devices(), kMostCandidates));
    std::vector<double> mean(dimension);
    for (std::size_t k = 0; k < updates.size(); ++k) {
      updates[k].resize(dimension);
      TRY_STATUS(view.honest_answer(k, updates[k]));
      for (std::size_t i = 0; i < dimension; ++i) {
        mean[i] += static_cast<double>(updates[k][i]) / static_cast<double>(updates.size());
      }
    }
    const auto along = [&](std::size_t k, const std::vector<double>& direction) {
      double product = 0;
      for (std::size_t i = 0; i < dimension; ++i) {
        product += (static_cast<double>(updates[k][i]) - mean[i]) * direction[i];
      }
      return product;
    };
    std::vector<double> direction(dimension);
    for (double& value : direction) value = view.random().normal();
    constexpr int kPowerIterations = 10;
    for (int step = 0; step < kPowerIterations; ++step) {
      std::vector<double> next(dimension);
      for (std::size_t k = 0; k < updates.size(); ++k) {
        const double weight = along(k, direction);
        for (std::size_t i = 0; i < dimension; ++i) {
          next[i] += weight * (static_cast<double>(updates[k][i]) - mean[i]);
        }
      }
      double squares = 0;
      for (const double value : next) squares += value * value;
      if (!(squares > 0)) break;
      for (double& value : next) value /= std::sqrt(squares);
      direction = std::move(next);
    }
    victim_ = 0;
    double furthest = -1;
    for (std::size_t k = 0; k < updates.size(); ++k) {
      const double reach = std::fabs(along(k, direction));
      if (reach > furthest) {
        furthest = reach;
        victim_ = k;
      }
    }
    return {};
  }

  std::optional<std::size_t> victim_;
};

}  // namespace

AttackKind mimic_kind() {
  return {.name = "mimic",
          .summary = "Karimireddy et al.: answers as one honest client would, always the same",
          .needs = {.honest_updates = true},
          .make = [](const AttackSettings&) -> std::unique_ptr<Attack> { return std::make_unique<Mimic>(); }};
}

}  // namespace aflguard::lab
