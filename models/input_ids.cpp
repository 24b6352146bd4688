#include "models/input_ids.h"

#include <algorithm>
#include <set>
#include <string>

#include "core/learning/model_description.h"

namespace aflguard::models {
namespace {

/// Operators that arrange the numbers of their first input, and change none.
bool arranges(const Node& node) {
  static const std::set<std::string> known{"Reshape", "Transpose", "Slice", "Split",
                                           "Expand",  "Identity",  "Gather"};
  if (!node.op.domain.empty()) return false;
  const auto to = static_cast<ElementType>(node.int_or("to", 0));
  return known.contains(node.op.op_type) ||
         (node.op.op_type == "Cast" && (to == ElementType::kInt64 || to == ElementType::kInt32));
}

}  // namespace

std::int64_t input_ids(const Graph& graph) {
  std::set<Value> numbers{graph.inputs.front()};
  std::int64_t ids = kMaxInputIds;
  for (const Node& node : graph.nodes) {
    if (node.op == OperatorName{"", "Gather"} && numbers.contains(node.input(1))) {
      const Shape& table = graph.shape(node.input(0));
      const std::int64_t axis = node.int_or("axis", 0);  // made normal by the import
      ids = std::min(ids, table[static_cast<std::size_t>(axis)].value);
    }
    if (arranges(node) && numbers.contains(node.input(0)))
      numbers.insert(node.outputs.begin(), node.outputs.end());
  }
  return ids;
}

}  // namespace aflguard::models
