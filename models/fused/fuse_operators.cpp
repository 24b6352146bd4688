#include <optional>
#include <set>

#include "models/batch_norm.h"
#include "models/fused/fused_operators.h"
#include "models/graph/graph_builder.h"
#include "models/shapes/window.h"

namespace aflguard::models {
namespace {

constexpr std::int64_t kMaxPoolWindow = 16;  // what the kernels hold

/// Finds, in one graph, the node that alone reads a value.
class Readers {
 public:
  explicit Readers(const Graph& graph) : graph_(graph), uses_(count_uses(graph)) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const Value& value : graph.nodes[i].inputs) reader_[value] = i;
    }
  }

  /// These nodes belong to a match: they are no readers any more.
  void take(const std::vector<std::size_t>& nodes) { taken_.insert(nodes.begin(), nodes.end()); }
  [[nodiscard]] bool taken(std::size_t node) const { return taken_.contains(node); }

  /// The only reader of `value`, if it is of this type and not taken.
  [[nodiscard]] std::optional<std::size_t> only(const Value& value, const OperatorName& op) const {
    const auto uses = uses_.find(value);
    const auto reader = reader_.find(value);
    if (uses == uses_.end() || uses->second != 1 || reader == reader_.end()) return std::nullopt;
    if (graph_.nodes[reader->second].op != op || taken(reader->second)) return std::nullopt;
    return reader->second;
  }
  [[nodiscard]] bool unused(const Value& value) const { return value.empty() || !uses_.contains(value); }

 private:
  const Graph& graph_;
  std::map<Value, std::size_t> uses_;
  std::map<Value, std::size_t> reader_;
  std::set<std::size_t> taken_;
};

/// A run of nodes that one fused node replaces, at the place of the last of them.
struct Match {
  Node node;
  std::vector<std::size_t> replaced;
};

bool pools_without_overlap(const Graph& graph, const Node& node) {
  const auto kernel = node.ints_or("kernel_shape", {});
  const auto window = read_window(node, kernel);
  if (!window.ok() || kernel.size() != 2 || window->strides != kernel || window->padded()) return false;
  if (window->dilations != std::vector<std::int64_t>{1, 1} || kernel[0] * kernel[1] > kMaxPoolWindow)
    return false;
  // Windows that hang over the edge (ceil_mode) are not those of the kernels.
  const Shape& in = graph.shape(node.inputs[0]);
  const Shape& out = graph.shape(node.outputs[0]);
  return out[2].value == in[2].value / kernel[0] && out[3].value == in[3].value / kernel[1];
}

std::optional<Match> match_convolution(const Graph& graph, const Readers& readers, std::size_t index) {
  const Node& conv = graph.nodes[index];
  if (conv.op != OperatorName{"", "Conv"} || conv.int_or("group", 1) != 1) return std::nullopt;
  const Shape& weight = graph.shape(conv.inputs[1]);
  if (weight.size() != 4) return std::nullopt;
  const auto window = read_window(conv, {weight[2].value, weight[3].value});
  if (!window.ok()) return std::nullopt;
  Match match{{{kFusedDomain, "Conv"}, conv.inputs, {conv.outputs[0]}, {}, conv.name}, {index}};
  Attributes& attributes = match.node.attributes;
  attributes["strides"] = window->strides;
  attributes["dilations"] = window->dilations;
  attributes["pads"] = window->pads();
  bool rectified = false;
  bool pooled = false;
  // The rectifier and the maximum commute, so they may come in either order.
  for (bool grown = true; grown;) {
    grown = false;
    const Value& last = match.node.outputs[0];
    if (const auto relu = readers.only(last, {"", "Relu"}); relu && !rectified) {
      match.replaced.push_back(*relu);
      match.node.outputs = {graph.nodes[*relu].outputs[0]};
      rectified = grown = true;
    } else if (const auto pool = readers.only(last, {"", "MaxPool"});
               pool && !pooled && graph.nodes[*pool].outputs.size() == 1 &&
               pools_without_overlap(graph, graph.nodes[*pool])) {
      match.replaced.push_back(*pool);
      match.node.op.op_type = "ConvPool";
      attributes["pool"] = graph.nodes[*pool].ints_or("kernel_shape", {});
      match.node.outputs = {graph.nodes[*pool].outputs[0]};
      pooled = grown = true;
    }
  }
  attributes["relu"] = std::int64_t{rectified ? 1 : 0};
  return match;
}

std::optional<Match> match_batch_norm(const Graph& graph, const Readers& readers, std::size_t index) {
  const Node& norm = graph.nodes[index];
  if (norm.op != kBatchNorm) return std::nullopt;
  for (std::size_t i = 1; i < norm.outputs.size(); ++i) {
    if (!readers.unused(norm.outputs[i])) return std::nullopt;
  }
  Match match{{{kFusedDomain, "BatchNorm"},
               {norm.inputs[0], norm.inputs[1], norm.inputs[2]},
               {norm.outputs[0]},
               {{"epsilon", norm.float_or("epsilon", 1e-5F)}},
               norm.name},
              {index}};
  if (const auto sum = readers.only(norm.outputs[0], {"", "Add"})) {
    const Node& add = graph.nodes[*sum];
    const Value& other = add.inputs[0] == norm.outputs[0] ? add.inputs[1] : add.inputs[0];
    if (other != norm.outputs[0] && graph.shape(other) == graph.shape(norm.outputs[0])) {
      match.node.inputs.push_back(other);
      match.node.outputs = {add.outputs[0]};
      match.replaced.push_back(*sum);
    }
  }
  const auto relu = readers.only(match.node.outputs[0], {"", "Relu"});
  if (relu) {
    match.node.outputs = {graph.nodes[*relu].outputs[0]};
    match.replaced.push_back(*relu);
  }
  match.node.attributes["relu"] = std::int64_t{relu ? 1 : 0};
  return match;
}

}  // namespace

Status fuse_operators(Graph& graph, const OperatorSet& /*operators*/) {
  Readers readers(graph);
  std::map<std::size_t, Node> fused;  // by the place of the last node replaced, where all inputs are made
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    auto match = match_convolution(graph, readers, i);
    if (!match) match = match_batch_norm(graph, readers, i);
    if (!match) continue;
    readers.take(match->replaced);
    fused.emplace(match->replaced.back(), std::move(match->node));
  }
  std::vector<Node> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (const auto place = fused.find(i); place != fused.end()) {
      nodes.push_back(std::move(place->second));
    } else if (!readers.taken(i)) {
      nodes.push_back(std::move(graph.nodes[i]));
    }
  }
  graph.nodes = std::move(nodes);
  remove_dead_nodes(graph);
  return {};
}

}  // namespace aflguard::models
