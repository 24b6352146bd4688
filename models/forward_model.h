#pragma once

#include <string>
#include <vector>

#include "core/learning/model_description.h"
#include "models/graph/graph.h"

namespace aflguard::models {

/// A tensor that may be trained: a value of the graph that nothing in it makes.
struct ForwardParameter {
  std::string name;
  Value value;
  Tensor initial;  ///< its shape counts; its values only for Initializer::kStored
  Initializer initializer = Initializer::kStored;
  double bound = 0;  ///< for Initializer::kUniform
};

/// A model as a function of one input and its parameters, in the operators of OperatorSet.
struct ForwardModel {
  std::string name;
  Graph graph;  ///< input "x" [batch, ...], one output [batch, ...]
  std::vector<ForwardParameter> parameters;
  std::vector<std::string> notes;  ///< what was read differently from what an engineer might expect
};

inline constexpr const char* kInputName = "x";

}  // namespace aflguard::models
