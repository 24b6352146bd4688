#include <tuple>

#include "models/passes/passes.h"

namespace aflguard::models {
namespace {

std::string attribute_text(const Attributes& attributes) {
  std::string result;
  for (const auto& [key, attribute] : attributes) {
    result += key + "=" + std::to_string(attribute.index()) + ":";
    if (const auto* number = std::get_if<std::int64_t>(&attribute)) result += std::to_string(*number);
    if (const auto* real = std::get_if<float>(&attribute))
      result.append(reinterpret_cast<const char*>(real), sizeof(float));
    if (const auto* string = std::get_if<std::string>(&attribute)) result += *string;
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
      for (const std::int64_t number : *numbers) result += std::to_string(number) + ",";
    }
    result += ";";
  }
  return result;
}

bool comparable(const Node& node) {
  for (const auto& [key, attribute] : node.attributes) {
    if (std::holds_alternative<Tensor>(attribute) || std::holds_alternative<std::vector<float>>(attribute) ||
        std::holds_alternative<std::vector<std::string>>(attribute))
      return false;
  }
  return true;
}

}  // namespace

Status share_equal_nodes(Graph& graph, const OperatorSet& operators) {
  std::map<std::tuple<OperatorName, std::vector<Value>, std::string, std::size_t>, std::vector<Value>> seen;
  return rewrite(graph, operators, [&](GraphBuilder&, const Node& node) -> Replacement {
    if (!comparable(node)) return std::nullopt;
    const auto [entry, first] = seen.try_emplace(
        {node.op, node.inputs, attribute_text(node.attributes), node.outputs.size()}, node.outputs);
    return first ? Replacement() : Replacement(entry->second);
  });
}

}  // namespace aflguard::models
