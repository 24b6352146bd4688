#pragma once

#include "core/learning/model_description.h"
#include "models/forward_model.h"
#include "models/operator_set.h"

namespace aflguard::models {

/// Puts the scaling in front of the model: what is fed to it are the features as they were measured. Does
/// nothing for an empty scaling; kInvalidInput when it has another number of features.
[[nodiscard]] Status scale_input(ForwardModel& model, const OperatorSet& operators,
                                 const InputScaling& scaling);

}  // namespace aflguard::models
