#include <cmath>

#include "core/aggregation/vectors/small_matrix.h"
#include "core/base/random.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

/// A a' of random numbers: symmetric, no eigenvalue below zero.
SmallMatrix random_gram(std::size_t size, std::size_t rank, Random& random) {
  SmallMatrix factor(size, rank);
  for (double& number : factor.numbers()) number = random.normal();
  SmallMatrix gram(size, size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < rank; ++k) gram(i, j) += factor(i, k) * factor(j, k);
    }
  }
  return gram;
}

void assert_near(const SmallMatrix& expected, const SmallMatrix& found) {
  for (std::size_t i = 0; i < expected.numbers().size(); ++i) {
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected.numbers()[i], found.numbers()[i]);
  }
}

}  // namespace

TEST("Eigenvectors are orthonormal, sorted, and give the matrix back") {
  Random random(3);
  for (const std::size_t size : {1, 2, 6, 12}) {
    const SmallMatrix matrix = random_gram(size, size, random);
    const EigenPairs pairs = symmetric_eigen(matrix);
    SmallMatrix back(size, size);
    SmallMatrix product(size, size);
    for (std::size_t k = 0; k < size; ++k) {
      if (k > 0) TEST_ASSERT_TRUE(pairs.values[k] <= pairs.values[k - 1]);
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) {
          back(i, j) += pairs.values[k] * pairs.vectors(k, i) * pairs.vectors(k, j);
          product(i, j) += pairs.vectors(i, k) * pairs.vectors(j, k);
        }
      }
    }
    assert_near(matrix, back);
    assert_near(SmallMatrix::identity(size), product);
  }
}

TEST("The pseudo-inverse inverts where there is something and drops what is too small") {
  Random random(4);
  const SmallMatrix full = random_gram(5, 5, random);
  assert_near(SmallMatrix::identity(5), full * pseudo_inverse(symmetric_eigen(full), 1e-12));
  const SmallMatrix flat = random_gram(5, 2, random);  // rank 2
  const SmallMatrix inverse = pseudo_inverse(symmetric_eigen(flat), 1e-6);
  assert_near(flat, flat * inverse * flat);
  assert_near(SmallMatrix(3, 3), pseudo_inverse(symmetric_eigen(SmallMatrix(3, 3)), 1e-6));
}

TEST("The inverse Cholesky factor makes a basis orthonormal; other matrices have none") {
  Random random(5);
  const SmallMatrix gram = random_gram(5, 7, random);
  const SmallMatrix inverse = inverse_cholesky(gram);
  SmallMatrix transposed(5, 5);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < 5; ++j) transposed(i, j) = inverse(j, i);
  }
  assert_near(SmallMatrix::identity(5), inverse * gram * transposed);
  TEST_ASSERT_EQUAL_UINT64(0, inverse_cholesky(SmallMatrix(2, 2)).rows());
}
