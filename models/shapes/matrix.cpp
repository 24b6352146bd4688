#include <algorithm>

#include "models/shapes/shape_rules.h"

namespace aflguard::models {
namespace {

Infos gemm(const ShapeQuery& query) {
  TRY_STATUS(expect_floats(query, 2));
  const Shape& a = query.shape(0);
  const Shape& b = query.shape(1);
  if (a.size() != 2 || b.size() != 2) {
    return invalid_input("inputs " + text(a) + " and " + text(b) + " are not two matrices");
  }
  const bool transposed_a = query.node().int_or("transA", 0) != 0;
  const bool transposed_b = query.node().int_or("transB", 0) != 0;
  const Dim inner_a = a[transposed_a ? 0 : 1];
  const Dim inner_b = b[transposed_b ? 1 : 0];
  if (inner_a != inner_b) {
    return invalid_input("inputs " + text(a) + " and " + text(b) + " do not multiply");
  }
  Shape result{a[transposed_a ? 1 : 0], b[transposed_b ? 0 : 1]};
  if (query.has(2)) {
    TRY(const Shape sum, broadcast(result, query.shape(2)));
    if (sum != result) {
      return invalid_input("input C of shape " + text(query.shape(2)) + " does not broadcast to " +
                           text(result));
    }
  }
  return one(query.info(0).type, std::move(result));
}

Infos matmul(const ShapeQuery& query) {
  TRY_STATUS(expect_floats(query, 2));
  Shape a = query.shape(0);
  Shape b = query.shape(1);
  const bool vector_a = a.size() == 1;
  const bool vector_b = b.size() == 1;
  const Error misfit = invalid_input("inputs " + text(a) + " and " + text(b) + " do not multiply");
  if (a.empty() || b.empty()) return misfit;
  if (vector_a) a.insert(a.begin(), Dim{});
  if (vector_b) b.push_back(Dim{});
  if (a.back() != b[b.size() - 2]) return misfit;
  const Shape batch_a(a.begin(), a.end() - 2);
  const Shape batch_b(b.begin(), b.end() - 2);
  auto result = broadcast(batch_a, batch_b);
  if (!result.ok()) return misfit;
  if (!vector_a) result->push_back(a[a.size() - 2]);
  if (!vector_b) result->push_back(b.back());
  return one(query.info(0).type, *result);
}

}  // namespace

void add_matrix_shapes(OperatorSet& operators) {
  operators.shapes[{"", "Gemm"}] = gemm;
  operators.shapes[{"", "MatMul"}] = matmul;
}

}  // namespace aflguard::models
