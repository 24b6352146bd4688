#include "core/aggregation/span/watched_directions.h"

#include <algorithm>
#include <cmath>

#include "core/aggregation/vectors/span_kernels.h"

namespace aflguard {
namespace {

// A residual this close to the known directions brings no new one: what is left of it is rounding.
constexpr double kLeastNew = 1e-4;

Status take_doubles(StateReader& state, std::vector<double>& values) {
  for (double& value : values) {
    TRY(value, state.number<double>());
    if (!std::isfinite(value)) return corrupt("state of 'SPAN': a number that is not finite");
  }
  return {};
}

}  // namespace

WatchedDirections::WatchedDirections(std::size_t directions, std::size_t dimension, double discount)
    : rows_(directions, dimension),
      discount_(discount),
      strengths_(directions),
      mend_(SmallMatrix::identity(directions)),
      shadow_(directions, 0) {}

void WatchedDirections::meet(const RowBundle& classes) {
  turns_ = 0;
  shadow_ = cross_products(rows_, classes);
  SmallMatrix own = cross_products(rows_, rows_);
  for (std::size_t k = rank_; k < size(); ++k) own(k, k) = 1;
  mend_ = inverse_cholesky(own);
  // Cannot happen while turns are orthogonal; if it does, go on with what is there.
  if (mend_.rows() != size()) mend_ = SmallMatrix::identity(size());
  shadow_ = mend_ * shadow_;
}

std::vector<double> WatchedDirections::components(const std::vector<double>& products,
                                                  const std::vector<double>& projection) const {
  std::vector<double> out = mend_ * products;
  const std::vector<double> visible = shadow_ * projection;
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = k < rank_ ? out[k] - visible[k] : 0;
  return out;
}

WatchedDirections::Turn WatchedDirections::learn(const std::vector<double>& c, double squared_length) const {
  Turn turn;
  turn.rotation = SmallMatrix::identity(size());
  turn.change = SmallMatrix::identity(size());
  turn.stored = mend_;
  turn.enter.resize(size());
  turn.components = c;
  turn.strengths = strengths_;
  turn.learning = true;
  const double rest = std::sqrt(std::max(0.0, squared_length - dot(c, c)));
  if (!(rest > kLeastNew * std::sqrt(squared_length))) return turn;
  for (std::size_t j = 0; j < rank_; ++j) turn.change(rank_, j) = -c[j] / rest;
  turn.change(rank_, rank_) = 0;
  turn.stored = turn.change * mend_;
  turn.enter[rank_] = 1 / rest;
  turn.components[rank_] = rest;
  for (double& strength : turn.strengths) strength *= discount_;
  turn.strengths[rank_] = 1;
  return turn;
}

WatchedDirections::Turn WatchedDirections::turn(const std::vector<double>& c, double squared_length) const {
  const std::size_t k_count = size();
  if (rank_ < k_count) return learn(c, squared_length);
  double rest = std::sqrt(std::max(0.0, squared_length - dot(c, c)));
  if (!(rest > kLeastNew * std::sqrt(squared_length))) rest = 0;
  // The second moment in the basis of the directions and the one that x adds.
  std::vector<double> x = c;
  x.push_back(rest);
  SmallMatrix moment(k_count + 1, k_count + 1);
  for (std::size_t i = 0; i <= k_count; ++i) {
    for (std::size_t j = 0; j <= k_count; ++j) moment(i, j) = x[i] * x[j];
    if (i < k_count) moment(i, i) += discount_ * strengths_[i];
  }
  const EigenPairs pairs = symmetric_eigen(moment);
  Turn turn;
  turn.rotation = SmallMatrix(k_count, k_count);
  turn.change = SmallMatrix(k_count, k_count);
  turn.enter.resize(k_count);
  turn.components.resize(k_count);
  turn.strengths.assign(pairs.values.begin(), pairs.values.begin() + static_cast<std::ptrdiff_t>(k_count));
  for (std::size_t k = 0; k < k_count; ++k) {
    const double outside = rest > 0 ? pairs.vectors(k, k_count) / rest : 0;
    turn.enter[k] = outside;
    for (std::size_t j = 0; j < k_count; ++j) {
      turn.rotation(k, j) = pairs.vectors(k, j);
      turn.change(k, j) = pairs.vectors(k, j) - outside * c[j];
    }
    for (std::size_t j = 0; j <= k_count; ++j) turn.components[k] += pairs.vectors(k, j) * x[j];
  }
  turn.stored = turn.change * mend_;
  return turn;
}

void WatchedDirections::turned(const Turn& turn, const std::vector<double>& class_products) {
  const std::size_t k_count = size();
  SmallMatrix next(k_count, class_products.size());
  for (std::size_t k = 0; k < k_count; ++k) {
    for (std::size_t column = 0; column < class_products.size(); ++column) {
      double sum = turn.enter[k] * class_products[column];
      for (std::size_t j = 0; j < k_count; ++j) sum += turn.change(k, j) * shadow_(j, column);
      next(k, column) = sum;
    }
  }
  shadow_ = std::move(next);
  strengths_ = turn.strengths;
  mend_ = SmallMatrix::identity(k_count);
  if (turn.learning && rank_ < k_count && turn.strengths[rank_] > 0) ++rank_;
  ++turns_;
}

void WatchedDirections::save(StateWriter& state) const {
  state.number<std::uint64_t>(rank_);
  state.number(turns_);
  for (const double v : strengths_) state.number(v);
  for (const double v : mend_.numbers()) state.number(v);
  state.number<std::uint64_t>(shadow_.columns());
  for (const double v : shadow_.numbers()) state.number(v);
  std::vector<float> row(rows_.length());
  for (std::size_t k = 0; k < rank_; ++k) {
    rows_.copy_row(k, row);
    state.floats(row);
  }
}

Status WatchedDirections::restore(StateReader& state) {
  WatchedDirections fresh(size(), rows_.length(), discount_);
  TRY(fresh.rank_, state.number<std::uint64_t>());
  if (fresh.rank_ > size()) return corrupt("state of 'SPAN': more directions than there can be");
  TRY(fresh.turns_, state.number<std::uint64_t>());
  TRY_STATUS(take_doubles(state, fresh.strengths_));
  TRY_STATUS(take_doubles(state, fresh.mend_.numbers()));
  TRY(const std::size_t classes, state.count(sizeof(double) * std::max<std::size_t>(1, size())));
  fresh.shadow_ = SmallMatrix(size(), classes);
  TRY_STATUS(take_doubles(state, fresh.shadow_.numbers()));
  std::vector<float> row(rows_.length());
  for (std::size_t k = 0; k < fresh.rank_; ++k) {
    TRY_STATUS(state.floats(row));
    fresh.rows_.set_row(k, row);
  }
  *this = std::move(fresh);
  return {};
}

}  // namespace aflguard
