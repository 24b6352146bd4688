#include "lab/runs/theorem_bound.h"

#include <algorithm>
#include <cmath>

namespace aflguard::lab {
namespace {

// The lemma's constants for linear regression.
constexpr double kMu = 1;
constexpr double kL = 1;
const double kAlpha1 = std::sqrt(2.0);
const double kAlpha2 = std::sqrt(8.0);
constexpr double kRho2 = 8;

struct Terms {
  double gamma;
  double capital_lambda;
  double q;
};

Terms terms(const BoundSettings& s, double trusted) {
  const auto d = static_cast<double>(s.dimension);
  const double log_beta = std::log(4 / s.beta);
  const double h = 2 * log_beta + 2 * std::sqrt(d * log_beta) + d;
  const double r = std::max(kL, h);
  const double k1 = d * std::log(6.0) + std::log(3 / s.beta);
  const double k2 = d * std::log(18 * r / kAlpha2);
  const double k3 =
      0.5 * d * std::log(trusted / d) +
      std::log(6 * kAlpha2 * kAlpha2 * s.epsilon * std::sqrt(trusted) / (kRho2 * kAlpha1 * s.beta));
  Terms t{};
  t.gamma = kAlpha1 * std::sqrt(2 * k1 / trusted);
  t.capital_lambda = kAlpha2 * std::sqrt(2 * std::max(0.0, k2 + k3) / trusted);
  const double eta = s.learning_rate;
  t.q = 1 - (std::sqrt(1 - 2 * eta * kMu * kL / (kMu + kL)) + eta * kL * s.lambda +
             8 * eta * t.capital_lambda * (s.lambda + 1));
  return t;
}

double contraction(double eta) {
  return std::sqrt(1 - 2 * eta * kMu * kL / (kMu + kL));
}

std::optional<double> fewest_trusted(const BoundSettings& settings) {
  double high = 1;
  while (high < 1e18 && terms(settings, high).q <= 0) high *= 2;
  if (terms(settings, high).q <= 0) return std::nullopt;
  double low = high / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (terms(settings, middle).q > 0 ? high : low) = middle;
  }
  return std::ceil(high);
}

}  // namespace

Result<Bound> evaluate_bound(const BoundSettings& settings) {
  if (!(settings.learning_rate > 0 && settings.learning_rate <= 2 / (kMu + kL))) {
    return invalid_input("the learning rate is " + std::to_string(settings.learning_rate) +
                         ", the theorem needs it in (0, 1] (on mean gradients)");
  }
  if (!(settings.beta > 0 && settings.beta < 1)) {
    return invalid_input("beta is " + std::to_string(settings.beta) + ", it must be between 0 and 1");
  }
  if (!(settings.lambda > 0) || !(settings.epsilon > 0) || !(settings.initial_distance >= 0) ||
      settings.dimension == 0 || settings.trusted_size == 0) {
    return invalid_input("lambda, epsilon, dimension and trusted size must be positive");
  }
  const Terms t = terms(settings, static_cast<double>(settings.trusted_size));
  const double eta = settings.learning_rate;
  Bound bound;
  bound.q = t.q;
  bound.gamma = t.gamma;
  bound.capital_lambda = t.capital_lambda;
  bound.q_without_sampling = 1 - contraction(eta) - eta * kL * settings.lambda;
  bound.largest_lambda = (1 - contraction(eta)) / (eta * kL);
  bound.needed_trusted_size = fewest_trusted(settings);
  if (t.q > 0) {
    bound.limit = 4 * eta * t.gamma * (settings.lambda + 1) / t.q;
    bound.after_iterations =
        std::pow(1 - t.q, static_cast<double>(settings.iterations)) * settings.initial_distance +
        *bound.limit;
  }
  return bound;
}

}  // namespace aflguard::lab
