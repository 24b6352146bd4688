#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "models/graph/graph.h"

namespace aflguard::models {

class RuleContext;

/// What a shape rule may ask about the node whose outputs it describes.
class ShapeQuery final {
 public:
  ShapeQuery(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] std::size_t inputs() const { return node_.inputs.size(); }
  [[nodiscard]] bool has(std::size_t input) const { return !node_.input(input).empty(); }
  /// An input that is not there has the type kUndefined and no shape, and is remembered as missing().
  [[nodiscard]] const ValueInfo& info(std::size_t input) const;
  [[nodiscard]] const Shape& shape(std::size_t input) const { return info(input).shape; }
  /// The int64 values of a constant input; kUnsupported when it is computed at run time.
  [[nodiscard]] Result<std::vector<std::int64_t>> ints(std::size_t input) const;
  /// The float32 values of a constant input; kUnsupported when it is computed at run time.
  [[nodiscard]] Result<std::vector<float>> floats(std::size_t input) const;
  /// An input that the rule asked for in vain.
  [[nodiscard]] std::optional<std::size_t> missing() const { return missing_; }

 private:
  const Graph& graph_;
  const Node& node_;
  mutable std::optional<std::size_t> missing_;
};

/// Type and shape of each output, or why the inputs do not fit. Messages need not name the node.
using ShapeRule = Result<std::vector<ValueInfo>> (*)(const ShapeQuery&);

/// Emits the nodes that compute the gradients of a node's inputs from those of its outputs.
using GradientRule = Status (*)(RuleContext&);

/// Everything the differentiation knows about operators. A further domain is supported by adding entries;
/// an entry for an operator that is there already replaces it.
struct OperatorSet {
  std::map<OperatorName, ShapeRule> shapes;
  std::map<OperatorName, GradientRule> gradients;
};

/// ONNX's own operators.
[[nodiscard]] OperatorSet standard_operators();

}  // namespace aflguard::models
