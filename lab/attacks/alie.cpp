#include <cmath>

#include "lab/attacks/craft/honest_updates.h"
#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {
namespace {

/// The z below which a share `p` of a normal distribution lies.
double normal_quantile(double p) {
  double low = -8;
  double high = 8;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// The paper's largest z: so many honest devices lie further out that the malicious ones are a majority with
/// them. 1 where the fleet's size is not known.
double largest_z(double devices, double malicious) {
  const double honest = devices - malicious;
  const double needed = std::floor(devices / 2 + 1) - malicious;
  if (!(honest > 0) || !(malicious > 0)) return 1;
  return std::max(0.0, normal_quantile((honest - std::max(0.0, needed)) / honest));
}

/// Baruch et al., "A Little Is Enough": mean - z deviation in every coordinate, within the honest spread.
class Alie final : public Attack {
 public:
  Alie(std::optional<std::size_t> sample, double z) : honest_(sample), z_(z) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY(const auto seen, honest_.look(view, update.size()));
    const Moments moments = moments_of(seen);
    for (std::size_t i = 0; i < update.size(); ++i) {
      update[i] = static_cast<float>(moments.mean[i] - z_ * moments.deviation[i]);
    }
    return {};
  }

 private:
  HonestUpdates honest_;
  double z_;
};

double chosen_z(const AttackSettings& settings) {
  const double z = settings.option("z", 0);
  return z > 0 ? z
               : largest_z(static_cast<double>(settings.devices), static_cast<double>(settings.malicious));
}

}  // namespace

AttackKind alie_kind() {
  return {.name = "alie",
          .summary = "a little is enough (Baruch et al.): mean - z deviation, within the honest spread",
          .needs = {.honest_updates = true},
          .options = {kHonestSample, {"z", 0, 0, 100, "deviations; 0: the paper's for the fleet's size"}},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<Alie>(honest_sample(settings), chosen_z(settings));
          },
          .make_on_device = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<Alie>(std::nullopt, chosen_z(settings));
          },
          .on_device = "a little is enough: mean - z deviation of the device's own latest honest updates"};
}

}  // namespace aflguard::lab
