#pragma once

#include <cstdint>

#include "models/graph/graph.h"

namespace aflguard::models {

/// For a graph whose input is int64: how many ids it takes, from 0 on. The smallest table that is looked up
/// with the input's numbers says so; kMaxInputIds where no table does.
[[nodiscard]] std::int64_t input_ids(const Graph& graph);

}  // namespace aflguard::models
