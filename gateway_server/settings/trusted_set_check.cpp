#include "gateway_server/settings/trusted_set_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "core/learning/summed_gradient.h"

namespace aflguard::gateway {
namespace {

constexpr std::size_t kNamed = 5;
constexpr int kSteps = 10;
constexpr std::size_t kSamples = 256;  ///< that are looked at, at most
/// One step too far may still lead downhill in the end; this is far above where it began.
constexpr double kRise = 2;
constexpr double kMore = 0.5;

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

}  // namespace

std::string trusted_set_problem(const Dataset& trusted, const ModelDescription& model) {
  if (trusted.size() == 1) {
    return "[trusted] has one sample: the guard judges every update by it; give it some of each class";
  }
  if (trusted.regression()) return {};
  std::vector<bool> present(trusted.classes);
  for (const std::int64_t label : trusted.labels) present[static_cast<std::size_t>(label)] = true;
  std::string names;
  std::size_t missing = 0;
  for (std::size_t label = 0; label < present.size(); ++label) {
    if (present[label]) continue;
    if (++missing <= kNamed) {
      names += (names.empty() ? "'" : ", '") + model.class_name(label) + "'";
    }
  }
  if (missing == 0) return {};
  if (missing > kNamed) names += " and " + std::to_string(missing - kNamed) + " more";
  return "[trusted] has no sample of class " + names +
         ": the guard cannot tell honest updates about it from others; add some";
}

Result<std::string> learning_rate_problem(Trainer& trainer, const Dataset& trusted,
                                          std::span<const float> parameters, double learning_rate,
                                          double samples) {
  std::vector<std::size_t> positions(std::min(trusted.size(), kSamples));
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i * trusted.size() / positions.size();
  BatchBuffer buffer;
  const Batch batch = buffer.gather(trusted, positions);
  std::vector<float> theta(parameters.begin(), parameters.end());
  std::vector<float> gradient(theta.size());
  double first = 0;
  for (int step = 0; step <= kSteps; ++step) {
    TRY(const float loss, trainer.gradient(theta, batch, gradient));
    if (step == 0) first = loss;
    if (!std::isfinite(loss) || loss > kRise * first + kMore) {
      return "[training] learning_rate " + number(learning_rate) + " is too high: after " +
             std::to_string(step) + " updates like the trusted samples' the loss is " + number(loss) +
             " where it was " + number(first) + "; a model that diverges blinds the guard";
    }
    for (std::size_t i = 0; i < theta.size(); ++i) {
      theta[i] -= static_cast<float>(learning_rate * samples * static_cast<double>(gradient[i]));
    }
  }
  return std::string();
}

}  // namespace aflguard::gateway
