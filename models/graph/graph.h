#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/graph/shape.h"
#include "models/graph/tensor.h"

namespace aflguard::models {

/// Names a tensor inside a graph. Empty: an optional input or output that is not there.
using Value = std::string;

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>, Tensor>;
using Attributes = std::map<std::string, Attribute>;

/// Which operator: ONNX's own have the empty domain.
struct OperatorName {
  std::string domain;
  std::string op_type;

  friend auto operator<=>(const OperatorName&, const OperatorName&) = default;
};

/// One operation of a graph.
struct Node {
  OperatorName op;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  Attributes attributes;
  std::string name;  ///< for messages; may be empty

  [[nodiscard]] std::int64_t int_or(std::string_view key, std::int64_t default_value) const;
  [[nodiscard]] float float_or(std::string_view key, float default_value) const;
  [[nodiscard]] std::string string_or(std::string_view key, std::string_view default_value) const;
  [[nodiscard]] std::vector<std::int64_t> ints_or(std::string_view key,
                                                  std::vector<std::int64_t> default_value) const;
  [[nodiscard]] std::vector<std::string> strings_or(std::string_view key,
                                                    std::vector<std::string> default_value) const;
  [[nodiscard]] bool has(std::string_view key) const;
  /// The input's name, empty when the node has fewer.
  [[nodiscard]] Value input(std::size_t index) const {
    return index < inputs.size() ? inputs[index] : Value();
  }
};

/// "node 'conv1' (Conv)": how messages name a node. A node without a name is named by its first output.
[[nodiscard]] std::string describe(const Node& node);

/// Type and shape of a value.
struct ValueInfo {
  ElementType type = ElementType::kFloat;
  Shape shape;

  friend bool operator==(const ValueInfo&, const ValueInfo&) = default;
};

/// A computation in ONNX's operators (opset kGraphOpset), independent of how files store it.
/// Nodes stand in an order in which every input is made before it is used; every value is made once.
struct Graph {
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::map<Value, Tensor> constants;
  std::vector<Node> nodes;
  std::map<Value, ValueInfo> values;  ///< of everything: inputs, constants, and what nodes make

  [[nodiscard]] const ValueInfo& info(const Value& value) const;
  [[nodiscard]] const Shape& shape(const Value& value) const { return info(value).shape; }
};

/// The ONNX operator set in which graphs are built and packages written.
inline constexpr int kGraphOpset = 17;

/// Number of nodes that read each value, with graph outputs counted as readers.
[[nodiscard]] std::map<Value, std::size_t> count_uses(const Graph& graph);

/// Removes nodes, constants and value infos that no output needs.
void remove_dead_nodes(Graph& graph);

}  // namespace aflguard::models
