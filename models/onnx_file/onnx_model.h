#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/graph/graph.h"

namespace aflguard::models {

/// An extent as a file declares it: a number, a name, or nothing.
struct OnnxDim {
  std::optional<std::int64_t> value;
  std::string name;
};

struct OnnxInput {
  std::string name;
  ElementType type = ElementType::kUndefined;
  bool has_shape = false;
  std::vector<OnnxDim> dims;
};

struct OnnxInitializer {
  std::string name;
  Tensor tensor;
};

/// The content of a .onnx file, as it stands there: any opset, nothing inferred or checked against rules.
struct OnnxModel {
  int opset = 0;                  ///< of ONNX's own operators
  std::vector<OnnxInput> inputs;  ///< without those that only declare an initializer
  std::vector<std::string> outputs;
  std::vector<OnnxInitializer> initializers;
  std::vector<Node> nodes;
};

}  // namespace aflguard::models
