#include "models/operator_set.h"

#include "models/rules/gradient_rules.h"
#include "models/shapes/shape_rules.h"

namespace aflguard::models {

OperatorSet standard_operators() {
  OperatorSet operators;
  add_elementwise_shapes(operators);
  add_matrix_shapes(operators);
  add_spatial_shapes(operators);
  add_structural_shapes(operators);
  add_indexing_shapes(operators);
  add_recurrent_shapes(operators);
  add_reduction_shapes(operators);
  add_resize_shapes(operators);

  add_activation_rules(operators);
  add_arithmetic_rules(operators);
  add_convolution_rules(operators);
  add_indexing_rules(operators);
  add_matrix_rules(operators);
  add_normalization_rules(operators);
  add_pooling_rules(operators);
  add_recurrent_rules(operators);
  add_reduction_rules(operators);
  add_resize_rules(operators);
  add_softmax_rules(operators);
  add_structural_rules(operators);
  return operators;
}

}  // namespace aflguard::models
