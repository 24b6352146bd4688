#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "models/graph/graph_builder.h"

namespace aflguard::models {

/// Values that take the place of a node's outputs; nothing: the node stays.
using Replacement = std::optional<std::vector<Value>>;

/// Walks over the nodes in order. `replace` may append nodes to the builder instead of the node that it is
/// shown (whose inputs are already renamed), and says which values stand for the node's outputs from now on.
[[nodiscard]] Status rewrite(Graph& graph, const OperatorSet& operators,
                             const std::function<Replacement(GraphBuilder&, const Node&)>& replace);

/// Gives a value another name, everywhere. By value: `from` is often an element of what is being renamed.
void rename_value(Graph& graph, Value from, Value to);

}  // namespace aflguard::models
