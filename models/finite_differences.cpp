#include "models/finite_differences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.h"

namespace aflguard::models {
namespace {

double dot(std::span<const float> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

/// Random samples and targets of the model's shapes.
struct RandomBatch {
  RandomBatch(const ModelDescription& model, std::size_t count, Random& random) : size(count) {
    features.resize(count * model.input_size());
    for (float& value : features) value = feature(model, random);
    if (model.loss == Loss::kCrossEntropy) {
      for (std::size_t i = 0; i < count; ++i)
        labels.push_back(static_cast<std::int64_t>(random.below(model.classes())));
    } else {
      values.resize(count * model.output_size());
      for (float& value : values) value = static_cast<float>(random.normal());
    }
  }
  /// Where no table says how many ids there are, small ones are numbers that a model can compute with.
  static float feature(const ModelDescription& model, Random& random) {
    if (model.input_type != InputType::kInt64) return static_cast<float>(random.normal());
    const std::int64_t ids = model.input_ids == kMaxInputIds ? 8 : model.input_ids;
    return static_cast<float>(random.below(static_cast<std::uint64_t>(ids)));
  }
  [[nodiscard]] Batch view() const { return {size, features, labels, values}; }

  std::size_t size;
  std::vector<float> features;
  std::vector<std::int64_t> labels;
  std::vector<float> values;
};

/// The loss in double from float32 outputs: rounding of single outputs averages out, a float32 loss's does
/// not.
double loss_of(const ModelDescription& model, const RandomBatch& batch, std::span<const float> outputs) {
  double total = 0;
  if (model.loss == Loss::kMeanSquaredError) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const double difference = static_cast<double>(outputs[i]) - batch.values[i];
      total += difference * difference;
    }
    return total / static_cast<double>(outputs.size());
  }
  const std::size_t classes = model.classes();
  for (std::size_t i = 0; i < batch.size; ++i) {
    const auto row = outputs.subspan(i * classes, classes);
    const double top = *std::ranges::max_element(row);
    double sum = 0;
    for (const float score : row) sum += std::exp(score - top);
    total += top + std::log(sum) - row[static_cast<std::size_t>(batch.labels[i])];
  }
  return total / static_cast<double>(batch.size);
}

class Checker final {
 public:
  Checker(Trainer& trainer, std::vector<float> theta, std::size_t batch, std::uint64_t seed)
      : trainer_(trainer),
        random_(seed),
        theta_(std::move(theta)),
        batch_(trainer.model(), batch, random_),
        gradient_(trainer.model().dimension()),
        outputs_(batch * trainer.model().output_size()) {}

  Result<GradientCheck> run() {
    GradientCheck result;
    TRY(const float loss, trainer_.gradient(theta_, batch_.view(), gradient_));
    result.loss = loss;
    TRY(const double evaluated, evaluated_loss(theta_));
    // Where evaluation is another function (stored statistics, probabilities), only the training loss serves.
    use_outputs_ = std::abs(evaluated - result.loss) <= 1e-4 * std::max(1.0, std::abs(result.loss));
    for (const Parameter& parameter : trainer_.model().parameters) TRY_STATUS(visit(parameter, result));
    return result;
  }

 private:
  Result<double> evaluated_loss(std::span<const float> theta) {
    TRY_STATUS(trainer_.predict(theta, batch_.features, batch_.size, outputs_));
    return loss_of(trainer_.model(), batch_, outputs_);
  }

  Result<double> loss_at(std::span<const float> theta) {
    if (use_outputs_) return evaluated_loss(theta);
    std::vector<float> unused(gradient_.size());
    TRY(const float loss, trainer_.gradient(theta, batch_.view(), unused));
    return static_cast<double>(loss);
  }

  /// theta moved by `step` along the direction.
  std::vector<float> moved(const Parameter& parameter, std::span<const double> direction, double step) const {
    std::vector<float> result = theta_;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      float& coordinate = result[parameter.offset + i];
      coordinate = static_cast<float>(coordinate + step * direction[i]);
    }
    return result;
  }

  /// (loss(theta + h v) - loss(theta - h v)) / 2h
  Result<double> difference(const Parameter& parameter, std::span<const double> direction, double h) {
    const auto ahead = moved(parameter, direction, h);
    const auto behind = moved(parameter, direction, -h);
    double distance = 0;  // as float32 allows, not 2h
    for (std::size_t i = 0; i < direction.size(); ++i) {
      const std::size_t at = parameter.offset + i;
      distance += (static_cast<double>(ahead[at]) - behind[at]) * direction[i];
    }
    TRY(const double loss_ahead, loss_at(ahead));
    TRY(const double loss_behind, loss_at(behind));
    return distance > 0 ? (loss_ahead - loss_behind) / distance : 0;
  }

  /// The slope that the gradient claims, averaged over `points` places between theta - h v and theta + h v.
  Result<double> mean_slope(const Parameter& parameter, std::span<const double> direction, double h,
                            int points) {
    std::vector<float> gradient(gradient_.size());
    double total = 0;
    for (int i = 0; i < points; ++i) {
      const auto place = moved(parameter, direction, h * ((2.0 * i + 1) / points - 1));
      TRY([[maybe_unused]] const float loss, trainer_.gradient(place, batch_.view(), gradient));
      total += dot(own(gradient, parameter), direction);
    }
    return total / points;
  }

  /// The smallest disagreement over ever finer looks; stops at the first that is good.
  Result<double> disagreement(const Parameter& parameter, std::span<const double> direction, double scale) {
    struct Look {
      double step;
      int points;
    };
    constexpr Look kLooks[] = {{8e-3, 2}, {4e-3, 4}, {2e-3, 8}, {1e-3, 16}, {2.5e-4, 16}};
    constexpr double kGood = 3e-3;
    const double length = std::max(1.0, norm(own(theta_, parameter)));
    double best = std::numeric_limits<double>::infinity();
    for (const Look& look : kLooks) {
      TRY(const double numeric, difference(parameter, direction, look.step * length));
      TRY(const double claimed, mean_slope(parameter, direction, look.step * length, look.points));
      best = std::min(best, std::abs(numeric - claimed) / scale);
      if (best <= kGood) break;
    }
    return best;
  }

  static std::span<const float> own(const std::vector<float>& vector, const Parameter& parameter) {
    return std::span(vector).subspan(parameter.offset, parameter.size());
  }

  Status visit(const Parameter& parameter, GradientCheck& result) {
    const auto gradient = own(gradient_, parameter);
    const double length = norm(gradient);
    const double floor =
        1e-3 * norm(gradient_) / std::sqrt(static_cast<double>(trainer_.model().parameters.size()));
    for (const bool along_gradient : {true, false}) {
      std::vector<double> direction(gradient.size());
      const double unit = 1 / std::sqrt(static_cast<double>(gradient.size()));
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const double chance = random_.uniform() < 0.5 ? -unit : unit;
        direction[i] = along_gradient && length > 0 ? gradient[i] / length : chance;
      }
      TRY(const double error, disagreement(parameter, direction, std::max({length, floor, 1e-12})));
      ++result.directions;
      if (result.worst_parameter.empty() || !(error <= result.worst_error)) {
        result.worst_error = error;
        result.worst_parameter = parameter.name;
      }
    }
    return {};
  }

  Trainer& trainer_;
  Random random_;
  std::vector<float> theta_;
  RandomBatch batch_;
  std::vector<float> gradient_;
  std::vector<float> outputs_;
  bool use_outputs_ = true;
};

}  // namespace

Result<GradientCheck> check_gradient(Trainer& trainer, std::vector<float> theta, std::size_t batch,
                                     std::uint64_t seed) {
  return Checker(trainer, std::move(theta), batch, seed).run();
}

}  // namespace aflguard::models
