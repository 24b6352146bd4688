#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "models/graph/graph.h"
#include "models/operator_set.h"

namespace aflguard::models {

/// Appends nodes to a graph and infers the shapes of what they make, at once.
///
/// The first failure sticks: later calls do nothing and return empty values, so that rules read like formulas
/// and the caller looks at status() once.
class GraphBuilder final {
 public:
  GraphBuilder(Graph& graph, const OperatorSet& operators) : graph_(graph), operators_(operators) {}
  GraphBuilder(const GraphBuilder&) = delete;
  GraphBuilder& operator=(const GraphBuilder&) = delete;

  [[nodiscard]] Status status() const;
  void fail(Error error);

  [[nodiscard]] Graph& graph() { return graph_; }
  [[nodiscard]] const OperatorSet& operators() const { return operators_; }
  [[nodiscard]] const Shape& shape(const Value& value) const;
  [[nodiscard]] std::size_t rank(const Value& value) const { return shape(value).size(); }

  /// Nodes appended from now on carry this name (of the imported node that they stand for).
  void set_origin(std::string name) { origin_ = std::move(name); }

  /// One node. `emit` returns its first output.
  Value emit(std::string_view op_type, std::vector<Value> inputs, Attributes attributes = {});
  std::vector<Value> emit_many(const OperatorName& op, std::vector<Value> inputs, Attributes attributes,
                               std::size_t outputs);
  /// For nodes whose output shape depends on run-time values: the caller states it.
  Value emit_shaped(std::string_view op_type, std::vector<Value> inputs, Attributes attributes,
                    ValueInfo output);
  /// Adds an optional output to a node that is in the graph already, and returns all of its outputs.
  std::vector<Value> extend_outputs(std::size_t node_index, std::size_t outputs);

  Value constant(Tensor tensor);  ///< equal constants share one value
  Value scalar(float value) { return constant(float_scalar(value)); }
  Value ints(const std::vector<std::int64_t>& values) { return constant(int64_vector(values)); }
  [[nodiscard]] Value fresh_name(std::string_view hint);

  Value add(const Value& a, const Value& b) { return emit("Add", {a, b}); }
  Value sub(const Value& a, const Value& b) { return emit("Sub", {a, b}); }
  Value mul(const Value& a, const Value& b) { return emit("Mul", {a, b}); }
  Value div(const Value& a, const Value& b) { return emit("Div", {a, b}); }
  Value neg(const Value& a) { return emit("Neg", {a}); }
  Value scaled(const Value& a, float factor);             ///< `a` itself when the factor is 1
  Value reshape(const Value& value, const Shape& shape);  ///< `value` itself when it has that shape
  Value transpose(const Value& value, const Axes& permutation);
  Value reduce_sum(const Value& value, const Axes& axes, bool keep_dims);
  Value reduce_mean(const Value& value, const Axes& axes, bool keep_dims);
  Value concat(std::vector<Value> values, std::int64_t axis);
  Value slice(const Value& value, const Axes& axes, const std::vector<std::int64_t>& starts,
              const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& steps = {});
  /// Pads with zeros (crops where negative); begins of all axes, then ends. `value` itself when all are 0.
  Value pad(const Value& value, const std::vector<std::int64_t>& pads);
  Value expand_like(const Value& value, const Value& model);
  /// Sums over the axes along which a tensor of shape `to` was broadcast to `value`, and gives it that shape.
  Value sum_to_shape(const Value& value, const Shape& to);
  /// value where condition, else 0
  Value masked(const Value& condition, const Value& value) {
    return emit("Where", {condition, value, scalar(0)});
  }
  /// How many elements of `value` each element of a tensor reduced over `axes` stands for, as a float scalar.
  Value count(const Value& value, const Axes& axes);

 private:
  Result<std::vector<ValueInfo>> infer(const Node& node) const;

  Graph& graph_;
  const OperatorSet& operators_;
  std::string origin_;
  std::size_t next_name_ = 0;
  std::vector<Error> failure_;  // empty or one
};

}  // namespace aflguard::models
