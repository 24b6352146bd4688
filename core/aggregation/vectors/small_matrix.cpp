#include "core/aggregation/vectors/small_matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/check.h"

namespace aflguard {
namespace {

constexpr double kNothing = 1e-15;

/// Turns rows and columns p and q so that m(p, q) becomes zero. False when it is as good as zero: turning by
/// what rounding left would mix vectors of equal eigenvalues for no reason.
bool rotate(SmallMatrix& m, SmallMatrix& vectors, std::size_t p, std::size_t q) {
  const double off = m(p, q);
  if (std::fabs(off) <= kNothing * (std::fabs(m(p, p)) + std::fabs(m(q, q)))) return false;
  const double theta = (m(q, q) - m(p, p)) / (2 * off);
  // The smaller angle of the two. An infinite theta gives t = 0: nothing left to turn.
  const double t = (theta >= 0 ? 1.0 : -1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
  const double c = 1 / std::sqrt(t * t + 1);
  const double s = t * c;
  const std::size_t n = m.rows();
  for (std::size_t i = 0; i < n; ++i) {
    const double ip = m(i, p);
    const double iq = m(i, q);
    m(i, p) = c * ip - s * iq;
    m(i, q) = s * ip + c * iq;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double pi = m(p, i);
    const double qi = m(q, i);
    m(p, i) = c * pi - s * qi;
    m(q, i) = s * pi + c * qi;
  }
  m(p, q) = 0;
  m(q, p) = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double pi = vectors(p, i);
    const double qi = vectors(q, i);
    vectors(p, i) = c * pi - s * qi;
    vectors(q, i) = s * pi + c * qi;
  }
  return true;
}

}  // namespace

SmallMatrix SmallMatrix::identity(std::size_t size) {
  SmallMatrix matrix(size, size);
  for (std::size_t i = 0; i < size; ++i) matrix(i, i) = 1;
  return matrix;
}

std::vector<double> SmallMatrix::operator*(const std::vector<double>& vector) const {
  check(vector.size() == columns_, "product of a small matrix and a vector of another size");
  std::vector<double> product(rows_);
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t j = 0; j < columns_; ++j) product[i] += (*this)(i, j) * vector[j];
  }
  return product;
}

SmallMatrix SmallMatrix::operator*(const SmallMatrix& other) const {
  check(other.rows() == columns_, "product of small matrices of other sizes");
  SmallMatrix product(rows_, other.columns());
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t k = 0; k < columns_; ++k) {
      for (std::size_t j = 0; j < other.columns(); ++j) product(i, j) += (*this)(i, k) * other(k, j);
    }
  }
  return product;
}

bool SmallMatrix::finite() const {
  return std::all_of(numbers_.begin(), numbers_.end(), [](double v) { return std::isfinite(v); });
}

EigenPairs symmetric_eigen(SmallMatrix m) {
  constexpr int kMostSweeps = 60;  // a dozen is usual
  const std::size_t n = m.rows();
  SmallMatrix vectors = SmallMatrix::identity(n);
  bool turned = true;
  for (int sweep = 0; turned && sweep < kMostSweeps; ++sweep) {
    turned = false;
    for (std::size_t p = 0; p + 1 < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) turned = rotate(m, vectors, p, q) || turned;
    }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&m](std::size_t a, std::size_t b) { return m(a, a) > m(b, b); });
  EigenPairs pairs{std::vector<double>(n), SmallMatrix(n, n)};
  for (std::size_t k = 0; k < n; ++k) {
    pairs.values[k] = m(order[k], order[k]);
    for (std::size_t j = 0; j < n; ++j) pairs.vectors(k, j) = vectors(order[k], j);
  }
  return pairs;
}

SmallMatrix pseudo_inverse(const EigenPairs& pairs, double least) {
  const std::size_t n = pairs.values.size();
  SmallMatrix inverse(n, n);
  if (n == 0 || !(pairs.values[0] > 0)) return inverse;
  for (std::size_t k = 0; k < n && pairs.values[k] > least * pairs.values[0]; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      const double scaled = pairs.vectors(k, i) / pairs.values[k];
      for (std::size_t j = 0; j < n; ++j) inverse(i, j) += scaled * pairs.vectors(k, j);
    }
  }
  return inverse;
}

SmallMatrix inverse_cholesky(const SmallMatrix& matrix) {
  const std::size_t n = matrix.rows();
  SmallMatrix lower(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = matrix(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= lower(i, k) * lower(j, k);
      if (i == j && !(rest > 0)) return {};
      lower(i, j) = i == j ? std::sqrt(rest) : rest / lower(j, j);
    }
  }
  SmallMatrix inverse(n, n);
  for (std::size_t column = 0; column < n; ++column) {
    for (std::size_t i = column; i < n; ++i) {
      double rest = i == column ? 1 : 0;
      for (std::size_t k = column; k < i; ++k) rest -= lower(i, k) * inverse(k, column);
      inverse(i, column) = rest / lower(i, i);
    }
  }
  return inverse;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace aflguard
