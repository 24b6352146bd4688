#pragma once

#include <set>
#include <vector>

#include "models/graph/graph_builder.h"

namespace aflguard::models {

/// One node during the backward walk: what a gradient rule reads and gives.
class RuleContext final {
 public:
  RuleContext(GraphBuilder& graph, std::size_t node_index, std::vector<Value> output_gradients,
              const std::set<Value>& differentiable);

  /// Where a rule appends its nodes. Failures stick there; rules need not look at them.
  GraphBuilder& g;

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] Value input(std::size_t index) const { return node_.input(index); }
  [[nodiscard]] const Shape& input_shape(std::size_t index) const { return g.shape(input(index)); }
  /// The node's output; an optional one that the graph did not ask for so far is added to the node.
  [[nodiscard]] Value output(std::size_t index);
  /// The loss's gradient with respect to that output; empty when the loss does not depend on it.
  [[nodiscard]] Value gradient(std::size_t index = 0) const;
  /// Whether the gradient of this input is of use. Rules skip the work for the others.
  [[nodiscard]] bool wants(std::size_t input) const;
  /// States the gradient of an input. Its shape must be the input's.
  void give(std::size_t input, Value gradient);

  [[nodiscard]] const std::vector<Value>& given() const { return given_; }
  /// An error that names the node: for cases that a rule does not cover.
  [[nodiscard]] Error refuse(const std::string& why) const;

 private:
  std::size_t index_;
  Node node_;  // a copy: the graph's vector of nodes moves when rules append to it
  std::vector<Value> output_gradients_;
  const std::set<Value>& differentiable_;
  std::vector<Value> given_;
};

}  // namespace aflguard::models
