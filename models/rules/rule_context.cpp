#include "models/rules/rule_context.h"

namespace aflguard::models {

RuleContext::RuleContext(GraphBuilder& graph, std::size_t node_index, std::vector<Value> output_gradients,
                         const std::set<Value>& differentiable)
    : g(graph),
      index_(node_index),
      node_(graph.graph().nodes[node_index]),
      output_gradients_(std::move(output_gradients)),
      differentiable_(differentiable),
      given_(node_.inputs.size()) {}

Value RuleContext::output(std::size_t index) {
  if (index >= node_.outputs.size()) node_.outputs = g.extend_outputs(index_, index + 1);
  return node_.outputs[index];
}

Value RuleContext::gradient(std::size_t index) const {
  return index < output_gradients_.size() ? output_gradients_[index] : Value();
}

bool RuleContext::wants(std::size_t input) const {
  return input < node_.inputs.size() && differentiable_.contains(node_.inputs[input]);
}

void RuleContext::give(std::size_t input, Value gradient) {
  if (!g.status().ok()) return;
  if (g.shape(gradient) != input_shape(input)) {
    g.fail(internal_error(describe(node_) + ": the rule gives a gradient of shape " +
                          text(g.shape(gradient)) + " for an input of shape " + text(input_shape(input))));
    return;
  }
  given_[input] = std::move(gradient);
}

Error RuleContext::refuse(const std::string& why) const {
  return unsupported(describe(node_) + ": " + why);
}

}  // namespace aflguard::models
