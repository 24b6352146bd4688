#pragma once

#include "models/operator_set.h"

namespace aflguard::models {

// Each file of this folder adds the shape rules of its operators.
void add_elementwise_shapes(OperatorSet& operators);
void add_matrix_shapes(OperatorSet& operators);
void add_spatial_shapes(OperatorSet& operators);
void add_structural_shapes(OperatorSet& operators);
void add_indexing_shapes(OperatorSet& operators);
void add_recurrent_shapes(OperatorSet& operators);
void add_reduction_shapes(OperatorSet& operators);
void add_resize_shapes(OperatorSet& operators);

using Infos = Result<std::vector<ValueInfo>>;

/// A type and shape as the single output.
[[nodiscard]] inline Infos one(ElementType type, Shape shape) {
  return std::vector<ValueInfo>{{type, std::move(shape)}};
}

/// For operators that exist for floats only: refuses what reads ids or counts by mistake.
[[nodiscard]] inline Status expect_floats(const ShapeQuery& query, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i) {
    const ElementType type = query.info(i).type;
    if (type == ElementType::kFloat || query.missing()) continue;
    return invalid_input("its input " + std::to_string(i) + " is " + element_type_name(type) +
                         "; it works on float32");
  }
  return {};
}

}  // namespace aflguard::models
