#pragma once

#include <map>
#include <string>

#include "models/graph/graph.h"

namespace aflguard::models {

/// Identifies what a graph computes: SHA-256, hex, over how its first output follows from the inputs, from
/// `parameters` (by name) and from constants: operators, attributes, wiring and the constants' values. The
/// names of values and nodes, the order of nodes and what the output does not need change nothing; nor do the
/// stored statistics of batch normalisations, which training does not read.
[[nodiscard]] std::string function_hash(const Graph& graph, const std::map<Value, std::string>& parameters);

}  // namespace aflguard::models
