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

/// Gives a value another name, everywhere.
void rename_value(Graph& graph, const Value& from, const Value& to);

}  // namespace aflguard::models
