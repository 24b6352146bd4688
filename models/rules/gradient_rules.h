#pragma once

#include "models/operator_set.h"

namespace aflguard::models {

// Each file of this folder adds the gradient rules of its operators. In their comments, y is the node's
// output, dy its gradient, and dx, dw, ... those of the inputs.
void add_activation_rules(OperatorSet& operators);
void add_arithmetic_rules(OperatorSet& operators);
void add_convolution_rules(OperatorSet& operators);
void add_indexing_rules(OperatorSet& operators);
void add_matrix_rules(OperatorSet& operators);
void add_normalization_rules(OperatorSet& operators);
void add_pooling_rules(OperatorSet& operators);
void add_recurrent_rules(OperatorSet& operators);
void add_reduction_rules(OperatorSet& operators);
void add_resize_rules(OperatorSet& operators);
void add_softmax_rules(OperatorSet& operators);
void add_structural_rules(OperatorSet& operators);

}  // namespace aflguard::models
