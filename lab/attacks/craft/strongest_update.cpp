#include "lab/attacks/craft/strongest_update.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/aggregation/guards/span_guard.h"
#include "core/aggregation/guards/span_guard_2.h"
#include "core/aggregation/vectors/span_kernels.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard::lab {
namespace {

double length(std::span<const float> v) {
  return std::sqrt(squared_norm(v));
}

void scale_into(std::span<const float> from, double factor, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(factor * from[i]);
}

/// The point of the ball around g_s that lies furthest along the wish.
void against_aflguard(const ReferenceUpdate& reference, double lambda, std::span<const float> wish,
                      std::span<float> update) {
  const double norm = length(wish);
  scale_into(wish, norm > 0 ? lambda * kSafety * reference.norm / norm : 0, update);
  for (std::size_t i = 0; i < update.size(); ++i) update[i] += reference.vector[i];
}

/// The wish without what points against g_s, tipped over to its side: the guard makes it as long as g_s.
void against_zeno(const ReferenceUpdate& reference, std::span<const float> wish, std::span<float> update) {
  constexpr double kTip = 1e-3;
  scale_into(wish, 1, update);
  const auto [along, squares] = dot_and_norm(wish, reference.vector);
  if (along > 0 || !(reference.norm > 0)) return;
  const double back = -along / (reference.norm * reference.norm) + kTip * std::sqrt(squares) / reference.norm;
  for (std::size_t i = 0; i < update.size(); ++i) {
    update[i] = static_cast<float>(update[i] + back * static_cast<double>(reference.vector[i]));
  }
}

/// The label mixture within the guard's limits that moves the model furthest along the wish.
std::vector<double> best_mixture(const std::vector<double>& gains, const MixtureLimits& limits) {
  const double most = std::min(1.0, limits.largest / static_cast<double>(gains.size()));
  std::vector<std::size_t> order(gains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::fabs(gains[a]) > std::fabs(gains[b]); });
  std::vector<double> mixture(gains.size());
  double left = limits.mass;
  for (const std::size_t c : order) {
    const double wanted = gains[c] > 0 ? most : limits.negative * most;
    const double taken = std::min(wanted, left);
    mixture[c] = gains[c] > 0 ? taken : -taken;
    left -= taken;
  }
  return mixture;
}

/// A whole batch of the classes whose samples help the attacker least to be caught: positive weights only.
std::vector<double> least_mixture(const std::vector<double>& gains, const MixtureLimits& limits) {
  const double most = std::min(1.0, limits.largest / static_cast<double>(gains.size()));
  std::vector<std::size_t> order(gains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return gains[a] > gains[b]; });
  std::vector<double> mixture(gains.size());
  double left = 1;
  for (const std::size_t c : order) {
    mixture[c] = std::min(most, left);
    left -= mixture[c];
  }
  return mixture;
}

std::vector<double> chosen_mixture(SentMixture choice, const std::vector<double>& gains,
                                   const MixtureLimits& limits) {
  switch (choice) {
    case SentMixture::kStrongest:
      return best_mixture(gains, limits);
    case SentMixture::kNone:
      return std::vector<double>(gains.size());
    case SentMixture::kEven:
      return std::vector<double>(gains.size(), 1 / static_cast<double>(gains.size()));
    case SentMixture::kLeast:
      return least_mixture(gains, limits);
  }
  return {};
}

/// A guard that looks at the mixture's honesty takes no residual with a mixture of negative weights alone:
/// nothing is taken away, and a trace of what harms least is added where nothing may be.
void look_honest(const std::vector<double>& gains, std::vector<double>& mixture) {
  constexpr double kTrace = 1e-3;
  for (double& weight : mixture) weight = std::max(weight, 0.0);
  const auto best = std::max_element(gains.begin(), gains.end()) - gains.begin();
  double& harmless = mixture[static_cast<std::size_t>(best)];
  harmless = std::max(harmless, kTrace);
}

/// to += factor * row
void add_row(const RowBundle& rows, std::size_t row, double factor, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * static_cast<double>(rows.at(row, i));
}

double length(const std::vector<double>& v) {
  return std::sqrt(dot(v, v));
}

/// A residual of length 1 along the wish whose components in the watched directions are what the guard lets
/// pass, and whose length goes where it does not watch.
void follow_directions(const SpanGuard& guard, std::vector<double>& residual) {
  const WatchedDirections& watched = guard.directions();
  if (watched.rank() < watched.size() || guard.panel().clients() < 2) return;
  std::vector<double> inside(residual.size());
  double used = 0;
  for (std::size_t k = 0; k < watched.size(); ++k) {
    double along = 0;
    for (std::size_t i = 0; i < residual.size(); ++i) along += residual[i] * watched.rows().at(k, i);
    const auto [median, deviation] = guard.panel().opinion(k);
    const double width = guard.options().width * deviation;
    const double passes = std::clamp(median + (along > 0 ? width : -width), -1.0, 1.0);
    add_row(watched.rows(), k, -along, residual);
    add_row(watched.rows(), k, passes, inside);
    used += passes * passes;
  }
  const double outside = length(residual);
  const double rest = std::sqrt(std::max(0.0, 1 - used));
  for (std::size_t i = 0; i < residual.size(); ++i) {
    residual[i] = inside[i] + (outside > 0 ? rest / outside * residual[i] : 0);
  }
}

/// The wish within the watched directions alone: shifts the medians there as fast as many clients can.
void stay_in_directions(const SpanGuard& guard, std::vector<double>& residual) {
  const RowBundle& rows = guard.directions().rows();
  if (guard.directions().rank() < rows.rows()) return;
  std::vector<double> inside(residual.size());
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    double along = 0;
    for (std::size_t i = 0; i < residual.size(); ++i)
      along += residual[i] * static_cast<double>(rows.at(k, i));
    add_row(rows, k, along, inside);
  }
  if (length(inside) > 0) residual = inside;
}

/// The residual without what points into the watched directions.
void avoid_directions(const SpanGuard& guard, std::vector<double>& residual) {
  const RowBundle& rows = guard.directions().rows();
  if (guard.directions().rank() < rows.rows()) return;
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    double along = 0;
    for (std::size_t i = 0; i < residual.size(); ++i) {
      along += residual[i] * static_cast<double>(rows.at(k, i));
    }
    add_row(rows, k, -along, residual);
  }
}

/// `share` of the residual, which has length 1, and the rest of that length along the noise.
void mix_with_noise(std::span<const float> noise, double share, std::vector<double>& residual) {
  double along = 0;
  for (std::size_t i = 0; i < residual.size(); ++i) along += static_cast<double>(noise[i]) * residual[i];
  std::vector<double> beside(noise.begin(), noise.end());
  for (std::size_t i = 0; i < residual.size(); ++i) beside[i] -= along * residual[i];
  const double norm = length(beside);
  if (!(norm > 0)) return;
  const double rest = std::sqrt(1 - share * share) / norm;
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = share * residual[i] + rest * beside[i];
}

/// Takes out of the residual what the guard's sketch of it would show: every number, less the mean of those
/// that share its place.
void hide_from(const ResidualSketcher& sketcher, std::vector<double>& residual) {
  std::vector<double> sums(kSketch);
  std::vector<double> counts(kSketch);
  const auto at = [&](std::size_t i) {
    const std::uint64_t place = sketch_place(sketcher.key(), i / RowBundle::kTurn);
    const std::size_t lane = i % RowBundle::kTurn;
    const double sign = ((place >> lane) & 1) != 0 ? -1 : 1;
    return std::pair(((place >> 20) + lane) % kSketch, sign);
  };
  // A place beyond the sketch's end begins again at 0, wherever the turn began.
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const auto [place, sign] = at(i);
    sums[place] += sign * residual[i];
    counts[place] += 1;
  }
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const auto [place, sign] = at(i);
    residual[i] -= sign * sums[place] / counts[place];
  }
}

/// What the two SpanGuards have in common for an attacker.
struct SpanBounds {
  const MixtureLimits& mixture;
  double longest;                ///< of an accepted residual
  double median;                 ///< of the clients' residuals
  bool honest_mixtures = false;  ///< it looks at the mixture's honesty
};

template <typename ShapeResidual>
void against_span(const SpanBounds& bounds, const ReferenceUpdate& reference,
                  const StrongestUpdateOptions& options, std::span<const float> wish,
                  const ShapeResidual& shape, std::span<float> update) {
  const RowBundle& classes = reference.per_class;
  const std::vector<double> gains = products(classes, wish);
  const VisibleSpan span(reference.gram);
  const VisiblePart seen = span.part(gains, bounds.mixture);
  std::vector<double> residual(wish.begin(), wish.end());
  for (std::size_t c = 0; c < classes.rows(); ++c) add_row(classes, c, -seen.projection[c], residual);
  const double invisible = length(residual);
  std::vector<double> out(wish.size());
  if (invisible > 0) {
    for (double& v : residual) v /= invisible;
    if (options.spread < 1) mix_with_noise(options.noise, options.spread, residual);
    shape(residual);
    // As long as it may be: the guard shortens it anyway, and the client's vote lifts the median.
    const double norm = length(residual);
    const double longest = options.length > 0 ? options.length * bounds.median : 0.99 * bounds.longest;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = norm > 0 ? longest / norm * residual[i] : 0;
  }
  std::vector<double> mixture = chosen_mixture(options.mixture, gains, bounds.mixture);
  if (bounds.honest_mixtures && gains.size() > 1) look_honest(gains, mixture);
  for (std::size_t c = 0; c < classes.rows(); ++c) add_row(classes, c, mixture[c], out);
  for (std::size_t i = 0; i < update.size(); ++i) update[i] = static_cast<float>(out[i]);
}

void against_span_guard(const SpanGuard& guard, const ReferenceUpdate& reference,
                        const StrongestUpdateOptions& options, std::span<const float> wish,
                        std::span<float> update) {
  const double median = guard.median_length(VisibleSpan(reference.gram));
  const SpanBounds bounds{guard.options().mixture, guard.options().reject * median, median,
                          guard.options().trust > 0};
  const auto shape = [&](std::vector<double>& residual) {
    if (options.follow == 1) follow_directions(guard, residual);
    if (options.follow == 2) stay_in_directions(guard, residual);
    if (options.follow == 3) avoid_directions(guard, residual);
  };
  against_span(bounds, reference, options, wish, shape, update);
}

void against_span_guard_2(const SpanGuard2& guard, const ReferenceUpdate& reference,
                          const StrongestUpdateOptions& options, std::span<const float> wish,
                          std::span<float> update) {
  const double median = guard.median_length(VisibleSpan(reference.gram));
  const SpanBounds bounds{guard.options().mixture, guard.options().reject * median, median};
  const auto shape = [&](std::vector<double>& residual) {
    if (options.unseen && guard.sketcher().key() != 0) hide_from(guard.sketcher(), residual);
  };
  against_span(bounds, reference, options, wish, shape, update);
}

}  // namespace

void strongest_update(const Guard& guard, const ReferenceUpdate* reference,
                      const StrongestUpdateOptions& options, std::span<const float> wish,
                      std::span<float> update) {
  if (const auto* span_guard = dynamic_cast<const SpanGuard*>(&guard)) {
    against_span_guard(*span_guard, *reference, options, wish, update);
  } else if (const auto* second = dynamic_cast<const SpanGuard2*>(&guard)) {
    against_span_guard_2(*second, *reference, options, wish, update);
  } else if (guard.name() == "aflguard" || guard.name() == "sync-aflguard") {
    against_aflguard(*reference, options.lambda, wish, update);
  } else if (guard.name() == "zeno++") {
    against_zeno(*reference, wish, update);
  } else {
    constexpr double kUnbounded = 1000;
    scale_into(wish, kUnbounded, update);
  }
}

}  // namespace aflguard::lab
