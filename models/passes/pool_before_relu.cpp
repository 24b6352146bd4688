#include <algorithm>

#include "models/passes/passes.h"

namespace aflguard::models {
namespace {

/// Activations that never decrease, and are constant only where Relu is: pooling commutes with them.
bool commutes(const Node& node) {
  if (node.op == OperatorName{"", "Relu"}) return true;
  return node.op == OperatorName{"", "LeakyRelu"} && node.float_or("alpha", 0.01F) > 0;
}

}  // namespace

Status pool_before_relu(Graph& graph, const OperatorSet& operators) {
  const auto uses = count_uses(graph);
  std::map<Value, Node> activations;  // by output, those that only one node reads
  for (const Node& node : graph.nodes) {
    if (commutes(node) && uses.at(node.outputs.front()) == 1) activations[node.outputs.front()] = node;
  }
  TRY_STATUS(rewrite(graph, operators, [&](GraphBuilder& g, const Node& node) -> Replacement {
    if (node.op != OperatorName{"", "MaxPool"} || node.outputs.size() != 1) return std::nullopt;
    const auto activation = activations.find(node.input(0));
    if (activation == activations.end()) return std::nullopt;
    // The activation as it stands in the new graph: its input may have been replaced meanwhile.
    const auto current = std::ranges::find_if(
        g.graph().nodes, [&](const Node& other) { return other.outputs.front() == activation->first; });
    const Value pooled = g.emit("MaxPool", {current->input(0)}, node.attributes);
    return std::vector<Value>{g.emit(activation->second.op.op_type, {pooled}, activation->second.attributes)};
  }));
  remove_dead_nodes(graph);
  return {};
}

}  // namespace aflguard::models
