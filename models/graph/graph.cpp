#include "models/graph/graph.h"

#include <algorithm>
#include <set>

#include "core/base/check.h"

namespace aflguard::models {
namespace {

template <typename T>
T attribute_or(const Attributes& attributes, std::string_view key, T default_value) {
  const auto found = attributes.find(std::string(key));
  if (found == attributes.end()) return default_value;
  const T* value = std::get_if<T>(&found->second);
  return value ? *value : default_value;
}

}  // namespace

std::int64_t Node::int_or(std::string_view key, std::int64_t default_value) const {
  return attribute_or(attributes, key, default_value);
}
float Node::float_or(std::string_view key, float default_value) const {
  return attribute_or(attributes, key, default_value);
}
std::string Node::string_or(std::string_view key, std::string_view default_value) const {
  return attribute_or(attributes, key, std::string(default_value));
}
std::vector<std::int64_t> Node::ints_or(std::string_view key, std::vector<std::int64_t> default_value) const {
  return attribute_or(attributes, key, std::move(default_value));
}
std::vector<std::string> Node::strings_or(std::string_view key,
                                          std::vector<std::string> default_value) const {
  return attribute_or(attributes, key, std::move(default_value));
}
bool Node::has(std::string_view key) const {
  return attributes.contains(std::string(key));
}

std::string describe(const Node& node) {
  std::string name = node.name;
  if (name.empty() && !node.outputs.empty()) name = node.outputs.front();
  const std::string domain = node.op.domain.empty() ? "" : node.op.domain + "::";
  return "node '" + name + "' (" + domain + node.op.op_type + ")";
}

const ValueInfo& Graph::info(const Value& value) const {
  const auto found = values.find(value);
  check(found != values.end(), "the shape of an unknown value was asked for: " + value);
  return found->second;
}

std::map<Value, std::size_t> count_uses(const Graph& graph) {
  std::map<Value, std::size_t> uses;
  for (const Node& node : graph.nodes) {
    for (const Value& input : node.inputs) ++uses[input];
  }
  for (const Value& output : graph.outputs) ++uses[output];
  return uses;
}

void remove_dead_nodes(Graph& graph) {
  std::set<Value> needed(graph.outputs.begin(), graph.outputs.end());
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool used = std::ranges::any_of(node->outputs, [&](const Value& v) { return needed.contains(v); });
    if (!used) continue;
    needed.insert(node->inputs.begin(), node->inputs.end());
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  graph.nodes = std::move(kept);
  std::set<Value> known = needed;
  known.insert(graph.inputs.begin(), graph.inputs.end());
  for (const Node& node : graph.nodes) known.insert(node.outputs.begin(), node.outputs.end());
  std::erase_if(graph.constants, [&](const auto& entry) { return !needed.contains(entry.first); });
  std::erase_if(graph.values, [&](const auto& entry) { return !known.contains(entry.first); });
}

}  // namespace aflguard::models
