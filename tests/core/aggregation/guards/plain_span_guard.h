#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/aggregation/vectors/small_matrix.h"

namespace aflguard::testing {

struct PlainVerdict {
  bool accepted = false;
  double length = 0;
  double bound = 0;
  double altered = 0;
};

/// SpanGuard's rule in the words of its description: whole vectors in double, an explicit basis,
/// clients' votes as whole vectors, nothing fused. Slow, and independent of the product's way.
class PlainSpanGuard final {
 public:
  PlainSpanGuard(std::size_t dimension, double rate, std::size_t clients, bool trust)
      : theta(dimension), rate_(rate), clients_(clients), trust_(trust) {}

  void reference(const std::vector<std::vector<float>>& classes) {
    classes_.assign(classes.size(), {});
    for (std::size_t c = 0; c < classes.size(); ++c) classes_[c].assign(classes[c].begin(), classes[c].end());
    basis_.clear();
    for (const auto& row : classes_) add_to_basis(basis_, row);
  }

  PlainVerdict judge(std::uint64_t client, const std::vector<float>& update) {
    const Vector g(update.begin(), update.end());
    const Vector visible = total(mixture(g));
    Vector o = g;
    for (const Vector& q : basis_) add(o, q, -product(q, o));
    PlainVerdict verdict;
    verdict.length = std::sqrt(product(o, o));
    votes_[client] = verdict.length;
    std::vector<double> lengths;
    for (const auto& [id, length] : votes_) lengths.push_back(length);
    double median = middle(lengths);
    ++times_[client];
    if (!quorate()) median = std::min(median, typical_length());
    verdict.bound = 3 * median;
    verdict.accepted = verdict.length <= verdict.bound;
    if (!verdict.accepted) return verdict;
    const double radius = 0.8 * median;
    const double most = radius * (trust_ ? honesty(g) : 1);
    if (verdict.length > most) scale(o, most / verdict.length);
    Vector applied = bend(client, o, radius);
    add(applied, visible, 1);
    add(theta, applied, -rate_);
    Vector missed = g;
    add(missed, applied, -1);
    verdict.altered = std::sqrt(product(missed, missed) / product(g, g));
    return verdict;
  }

  std::vector<double> theta;

 private:
  using Vector = std::vector<double>;
  static constexpr std::size_t kDirections = 8;

  static double product(const Vector& a, const Vector& b) { return dot(a, b); }
  static void add(Vector& a, const Vector& b, double factor) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
  }
  static void scale(Vector& a, double factor) {
    for (double& v : a) v *= factor;
  }
  static double middle(std::vector<double> numbers) {
    std::sort(numbers.begin(), numbers.end());
    const std::size_t half = numbers.size() / 2;
    return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
  }
  static void add_to_basis(std::vector<Vector>& basis, Vector v) {
    for (const Vector& q : basis) add(v, q, -product(q, v));
    scale(v, 1 / std::sqrt(product(v, v)));
    basis.push_back(std::move(v));
  }

  [[nodiscard]] Vector total(const Vector& weights) const {
    Vector out(classes_[0].size());
    for (std::size_t i = 0; i < weights.size(); ++i) add(out, classes_[i], weights[i]);
    return out;
  }

  /// The cosine between what is seen of g and the classes that it adds.
  [[nodiscard]] double honesty(const Vector& g) const {
    Vector weights = mixture(g);
    for (double& weight : weights) weight = std::max(0.0, weight);
    const Vector added = total(weights);
    Vector seen(g.size());
    for (const Vector& q : basis_) add(seen, q, product(q, g));
    const double both = std::sqrt(product(added, added) * product(seen, seen));
    return both > 0 ? std::max(0.0, product(added, seen) / both) : 0;
  }

  /// 80 % of the fleet have voted; or more than half of it, and most of these three times.
  [[nodiscard]] bool quorate() const {
    const auto often =
        std::count_if(times_.begin(), times_.end(), [](const auto& c) { return c.second >= 3; });
    return 10 * times_.size() >= 8 * clients_ ||
           (2 * times_.size() > clients_ && 2 * static_cast<std::size_t>(often) > times_.size());
  }

  [[nodiscard]] double typical_length() const {
    double squares = 0;
    for (const Vector& row : classes_) squares += product(row, row);
    return std::sqrt(squares / static_cast<double>(classes_.size()));
  }

  /// Ridge least squares by Gaussian elimination, clipped to what a batch can hold.
  [[nodiscard]] Vector mixture(const Vector& g) const {
    const std::size_t n = classes_.size();
    double trace = 0;
    for (const Vector& row : classes_) trace += product(row, row);
    std::vector<Vector> system(n, Vector(n + 1));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) system[i][j] = product(classes_[i], classes_[j]);
      system[i][i] += 1e-3 * trace / static_cast<double>(n);
      system[i][n] = product(classes_[i], g);
    }
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t i = 0; i < n; ++i) {
        if (i != p) add(system[i], system[p], -system[i][p] / system[p][p]);
      }
    }
    const double most = std::min(1.0, 5.0 / static_cast<double>(n));
    double mass = 0;
    Vector weights(n);
    for (std::size_t i = 0; i < n; ++i) {
      weights[i] = std::clamp(system[i][n] / system[i][i], -0.05 * most, most);
      mass += std::fabs(weights[i]);
    }
    scale(weights, std::min(1.0, 1.5 / mass));
    return weights;
  }

  /// The disagreement step. The clients' components are kept as the vectors within W that they stand for:
  /// turning W is projecting them.
  Vector bend(std::uint64_t client, const Vector& o, double radius) {
    const bool nothing = product(o, o) == 0;  // not believed at all
    Vector x = o;
    scale(x, 1 / radius);
    if (nothing && directions_.size() < kDirections) return o;
    if (directions_.size() < kDirections) {
      add_to_basis(directions_, o);
      for (double& strength : strengths_) strength *= 0.99;
      strengths_.push_back(1);
      hear(client, x);
      return o;
    }
    if (nothing) {
      for (double& strength : strengths_) strength *= 0.99;
    } else {
      turn(x);
      for (auto& [id, said] : said_) said = within(said);
      hear(client, x);
    }
    Vector out = o;
    for (const Vector& w : directions_) {
      std::vector<double> components;
      for (const auto& [id, said] : said_) components.push_back(product(w, said));
      const double median = middle(components);
      std::vector<double> deviations;
      for (const double v : components) deviations.push_back(std::fabs(v - median));
      const double deviation = middle(deviations);
      const double y = product(w, x);
      add(out, w, radius * (std::clamp(y, median - deviation, median + deviation) - y));
    }
    return out;
  }

  void turn(const Vector& x) {
    std::vector<Vector> wide = directions_;
    add_to_basis(wide, x);
    SmallMatrix moment(wide.size(), wide.size());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      for (std::size_t j = 0; j < wide.size(); ++j) {
        moment(i, j) = product(wide[i], x) * product(wide[j], x);
        if (i == j && i < strengths_.size()) moment(i, j) += 0.99 * strengths_[i];
      }
    }
    const EigenPairs pairs = symmetric_eigen(moment);
    for (std::size_t k = 0; k < kDirections; ++k) {
      Vector w(x.size());
      for (std::size_t j = 0; j < wide.size(); ++j) add(w, wide[j], pairs.vectors(k, j));
      directions_[k] = w;
      strengths_[k] = pairs.values[k];
    }
  }

  [[nodiscard]] Vector within(const Vector& v) const {
    Vector out(v.size());
    for (const Vector& w : directions_) add(out, w, product(w, v));
    return out;
  }

  void hear(std::uint64_t client, const Vector& x) {
    const auto [known, first] = said_.try_emplace(client, within(x));
    if (first) return;
    scale(known->second, 0.5);
    add(known->second, within(x), 0.5);
  }

  double rate_;
  std::size_t clients_;
  bool trust_;
  std::vector<Vector> classes_;
  std::vector<Vector> basis_;  ///< of the classes' span
  std::map<std::uint64_t, double> votes_;
  std::map<std::uint64_t, int> times_;  ///< that each client has voted
  std::vector<Vector> directions_;
  std::vector<double> strengths_;
  std::map<std::uint64_t, Vector> said_;
};

}  // namespace aflguard::testing
