#pragma once

#include <cstddef>
#include <vector>

namespace aflguard {

/// A dense matrix of a few rows, in double. Written out by hand, without a library: its operations happen in
/// one fixed order, so results are the same bits on every machine and recordings can be replayed anywhere.
class SmallMatrix final {
 public:
  SmallMatrix() = default;
  SmallMatrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), numbers_(rows * columns) {}
  [[nodiscard]] static SmallMatrix identity(std::size_t size);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] double& operator()(std::size_t row, std::size_t column) {
    return numbers_[row * columns_ + column];
  }
  [[nodiscard]] double operator()(std::size_t row, std::size_t column) const {
    return numbers_[row * columns_ + column];
  }
  /// Row by row.
  [[nodiscard]] const std::vector<double>& numbers() const { return numbers_; }
  [[nodiscard]] std::vector<double>& numbers() { return numbers_; }

  [[nodiscard]] std::vector<double> operator*(const std::vector<double>& vector) const;
  [[nodiscard]] SmallMatrix operator*(const SmallMatrix& other) const;
  [[nodiscard]] bool finite() const;

  friend bool operator==(const SmallMatrix&, const SmallMatrix&) = default;

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<double> numbers_;
};

/// values[k] belongs to the eigenvector in row k of `vectors`; largest first.
struct EigenPairs {
  std::vector<double> values;
  SmallMatrix vectors;
};

/// Of a finite symmetric matrix, by Jacobi rotations.
[[nodiscard]] EigenPairs symmetric_eigen(SmallMatrix matrix);

/// sum of v v' / value over the eigenvalues above `least` times the largest one; zero when none is positive.
[[nodiscard]] SmallMatrix pseudo_inverse(const EigenPairs& pairs, double least);

/// L^-1 with L L' = matrix (Cholesky), for a positive definite matrix; empty when it is not.
[[nodiscard]] SmallMatrix inverse_cholesky(const SmallMatrix& matrix);

[[nodiscard]] double dot(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace aflguard
