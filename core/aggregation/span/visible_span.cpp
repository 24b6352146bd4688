#include "core/aggregation/span/visible_span.h"

#include <algorithm>
#include <cmath>

namespace aflguard {
namespace {

constexpr double kLeastEigenvalue = 1e-6;  // of the largest
constexpr double kRidge = 1e-3;            // of the mean diagonal

}  // namespace

VisibleSpan::VisibleSpan(SmallMatrix gram) : gram_(std::move(gram)), usable_(gram_.finite()) {
  if (!usable_) return;
  const std::size_t classes = gram_.rows();
  EigenPairs pairs = symmetric_eigen(gram_);
  projector_ = pseudo_inverse(pairs, kLeastEigenvalue);
  double trace = 0;
  for (std::size_t c = 0; c < classes; ++c) trace += gram_(c, c);
  const double ridge = kRidge * trace / static_cast<double>(classes);
  typical_length_ = classes > 0 ? std::sqrt(trace / static_cast<double>(classes)) : 0;
  for (double& value : pairs.values) value = std::max(value, 0.0) + ridge;
  ridge_ = pseudo_inverse(pairs, 0);
}

VisiblePart VisibleSpan::part(const std::vector<double>& products, const MixtureLimits& limits) const {
  VisiblePart part{projector_ * products, ridge_ * products, false, false};
  const double most = std::min(1.0, limits.largest / static_cast<double>(products.size()));
  double mass = 0;
  for (double& weight : part.mixture) {
    const double wanted = weight;
    weight = std::clamp(weight, -limits.negative * most, most);
    part.clipped = part.clipped || weight != wanted;
    mass += std::fabs(weight);
  }
  part.scaled = mass > limits.mass;
  if (part.scaled) {
    for (double& weight : part.mixture) weight *= limits.mass / mass;
  }
  return part;
}

double VisibleSpan::honesty(const VisiblePart& part) const {
  std::vector<double> added = part.mixture;
  for (double& weight : added) weight = std::max(weight, 0.0);
  const double both = std::sqrt(squared_length(added) * squared_length(part.projection));
  return both > 0 ? std::clamp(dot(added, gram_ * part.projection) / both, 0.0, 1.0) : 0;
}

double VisibleSpan::squared_length(const std::vector<double>& weights) const {
  return std::max(0.0, dot(weights, gram_ * weights));
}

}  // namespace aflguard
