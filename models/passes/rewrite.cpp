#include "models/passes/rewrite.h"

#include <algorithm>
#include <map>

namespace aflguard::models {

Status rewrite(Graph& graph, const OperatorSet& operators,
               const std::function<Replacement(GraphBuilder&, const Node&)>& replace) {
  std::vector<Node> old = std::move(graph.nodes);
  graph.nodes.clear();
  GraphBuilder builder(graph, operators);
  std::map<Value, Value> renamed;
  const auto current = [&](const Value& value) {
    const auto found = renamed.find(value);
    return found == renamed.end() ? value : found->second;
  };
  for (Node& node : old) {
    std::ranges::transform(node.inputs, node.inputs.begin(), current);
    builder.set_origin(node.name);
    const Replacement replacement = replace(builder, node);
    TRY_STATUS(builder.status());
    if (!replacement) {
      graph.nodes.push_back(std::move(node));
      continue;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) renamed[node.outputs[i]] = replacement->at(i);
  }
  std::ranges::transform(graph.outputs, graph.outputs.begin(), current);
  return {};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): see the header.
void rename_value(Graph& graph, Value from, Value to) {
  const auto rename = [&](std::vector<Value>& values) { std::ranges::replace(values, from, to); };
  for (Node& node : graph.nodes) {
    rename(node.inputs);
    rename(node.outputs);
  }
  rename(graph.inputs);
  rename(graph.outputs);
  if (auto info = graph.values.extract(from)) {
    info.key() = to;
    graph.values.insert(std::move(info));
  }
  if (auto tensor = graph.constants.extract(from)) {
    tensor.key() = to;
    graph.constants.insert(std::move(tensor));
  }
}

}  // namespace aflguard::models
