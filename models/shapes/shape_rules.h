#pragma once

#include "models/operator_set.h"

namespace aflguard::models {

// Each file of this folder adds the shape rules of its operators.
void add_elementwise_shapes(OperatorSet& operators);
void add_matrix_shapes(OperatorSet& operators);
void add_spatial_shapes(OperatorSet& operators);
void add_structural_shapes(OperatorSet& operators);
void add_indexing_shapes(OperatorSet& operators);
void add_reduction_shapes(OperatorSet& operators);

using Infos = Result<std::vector<ValueInfo>>;

/// A type and shape as the single output.
[[nodiscard]] inline Infos one(ElementType type, Shape shape) {
  return std::vector<ValueInfo>{{type, std::move(shape)}};
}

}  // namespace aflguard::models
