#include <algorithm>
#include <cmath>

#include "lab/attacks/craft/honest_updates.h"
#include "lab/attacks/honest_sample.h"

namespace aflguard::lab {
namespace {

constexpr NamedOption kPush = {"push", 0, 0, 2,
                               "0: against the honest deviation, 1: against the mean, 2: against its sign"};

/// Shejwalkar and Houmansadr: the mean, pushed as far as the honest updates lie from each other.
/// Min-Max: no further from any of them than the two that lie furthest apart; Min-Sum: its squared distances
/// to them sum to no more than those of the honest update that lies furthest out.
class MinMax final : public Attack {
 public:
  MinMax(std::optional<std::size_t> sample, bool sums, double push)
      : honest_(sample), sums_(sums), push_(static_cast<int>(push)) {}

  Status craft(AttackerView& view, std::span<float> update) override {
    TRY(const auto seen, honest_.look(view, update.size()));
    const Moments moments = moments_of(seen);
    const std::vector<double> direction = direction_of(moments);
    // ||mean + gamma p - u||^2 = apart + 2 gamma along + gamma^2 for a direction p of length 1.
    std::vector<double> apart(seen.size());
    std::vector<double> along(seen.size());
    for (std::size_t k = 0; k < seen.size(); ++k) {
      for (std::size_t i = 0; i < update.size(); ++i) {
        const double difference = moments.mean[i] - static_cast<double>(seen[k][i]);
        apart[k] += difference * difference;
        along[k] += difference * direction[i];
      }
    }
    const double gamma = longest_push(apart, along, widest(seen));
    for (std::size_t i = 0; i < update.size(); ++i) {
      update[i] = static_cast<float>(moments.mean[i] + gamma * direction[i]);
    }
    return {};
  }

 private:
  [[nodiscard]] std::vector<double> direction_of(const Moments& moments) const {
    std::vector<double> direction(moments.mean.size());
    for (std::size_t i = 0; i < direction.size(); ++i) {
      const double mean = moments.mean[i];
      const double sign = mean > 0 ? 1 : (mean < 0 ? -1 : 0);
      direction[i] = push_ == 0 ? -moments.deviation[i] : (push_ == 1 ? -mean : -sign);
    }
    const double length = length_of(direction);
    if (length > 0) {
      for (double& value : direction) value /= length;
    }
    return direction;
  }

  /// What the honest updates have among themselves: the largest squared distance, or the largest sum of them.
  [[nodiscard]] double widest(std::span<const std::vector<float>> seen) const {
    double largest = 0;
    std::vector<double> totals(seen.size());
    for (std::size_t a = 0; a < seen.size(); ++a) {
      for (std::size_t b = a + 1; b < seen.size(); ++b) {
        double squares = 0;
        for (std::size_t i = 0; i < seen[a].size(); ++i) {
          const double difference = static_cast<double>(seen[a][i]) - static_cast<double>(seen[b][i]);
          squares += difference * difference;
        }
        largest = std::max(largest, squares);
        totals[a] += squares;
        totals[b] += squares;
      }
    }
    return sums_ ? *std::max_element(totals.begin(), totals.end()) : largest;
  }

  [[nodiscard]] double longest_push(const std::vector<double>& apart, const std::vector<double>& along,
                                    double bound) const {
    const auto fits = [&](double gamma) {
      double worst = 0;
      double total = 0;
      for (std::size_t k = 0; k < apart.size(); ++k) {
        const double squares = apart[k] + 2 * gamma * along[k] + gamma * gamma;
        worst = std::max(worst, squares);
        total += squares;
      }
      return (sums_ ? total : worst) <= bound;
    };
    double low = 0;
    double high = 1;
    while (fits(high) && high < 1e15) high *= 2;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return low;
  }

  HonestUpdates honest_;
  bool sums_;
  int push_;
};

template <bool sums>
AttackKind kind_of(std::string_view name, std::string_view summary, std::string_view on_device) {
  return {.name = name,
          .summary = summary,
          .needs = {.honest_updates = true},
          .options = {kHonestSample, kPush},
          .make = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<MinMax>(honest_sample(settings), sums, settings.option("push", 0));
          },
          .make_on_device = [](const AttackSettings& settings) -> std::unique_ptr<Attack> {
            return std::make_unique<MinMax>(std::nullopt, sums, settings.option("push", 0));
          },
          .on_device = on_device};
}

}  // namespace

AttackKind min_max_kind() {
  return kind_of<false>("min-max",
                        "Shejwalkar and Houmansadr: the mean, pushed as far as honest updates lie apart",
                        "Min-Max among the device's own latest honest updates");
}

AttackKind min_sum_kind() {
  return kind_of<true>("min-sum", "as min-max, with sums of squared distances",
                       "Min-Sum among the device's own latest honest updates");
}

}  // namespace aflguard::lab
