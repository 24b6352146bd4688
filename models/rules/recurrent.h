#pragma once

#include <vector>

#include "models/rules/rule_context.h"

namespace aflguard::models {

/// One direction of a recurrent layer, as the gradient of its cell sees it. Tensors are [steps, batch, n] in
/// the order of the layer's input; lists have one tensor [1, batch, n] for each step.
///
/// The forward pass gives every state, so that gates are computed again for all steps at once; only what a
/// step takes from its neighbour is done step by step.
class Sweep final {
 public:
  /// The layer's `direction`-th direction. Its node has the inputs X, W, R, B, -, initial states.
  Sweep(RuleContext& context, std::size_t direction);

  [[nodiscard]] std::size_t steps() const { return steps_; }
  /// Where the direction is after k steps: it begins at number(0).
  [[nodiscard]] std::size_t number(std::size_t k) const { return backwards_ ? steps_ - 1 - k : k; }

  GraphBuilder& g;
  std::int64_t hidden = 0;
  Value x;
  Value w, r;    ///< [gates * hidden, features], [gates * hidden, hidden]
  Value wb, rb;  ///< [gates * hidden]; empty without biases
  Value h0, c0;  ///< [1, batch, hidden]: states before the first step, zeros where the node has none
  Value y;       ///< state after each step
  Value before;  ///< state before each step

  /// Gradients of the states after each step, without what later steps pass on; empty where there is none.
  std::vector<Value> dy;
  Value dc;  ///< of the last cell state; empty where there is none

  [[nodiscard]] std::vector<Value> per_step(const Value& all) const;
  [[nodiscard]] Value joined(std::vector<Value> steps) const { return g.concat(std::move(steps), 0); }
  /// Columns [first, last) in multiples of the hidden size, and the same of the rows of a weight.
  [[nodiscard]] Value columns(const Value& value, std::int64_t first, std::int64_t last) const;
  [[nodiscard]] Value rows(const Value& weight, std::int64_t first, std::int64_t last) const;
  /// value * weight^T + bias, and value * weight.
  [[nodiscard]] Value affine(const Value& value, const Value& weight, const Value& bias) const;
  [[nodiscard]] Value product(const Value& a, const Value& b) const { return g.emit("MatMul", {a, b}); }
  /// The sum of what is there; zeros [1, batch, hidden] when nothing is.
  [[nodiscard]] Value sum(const std::vector<Value>& parts) const;
  /// Gradient of a weight: (gradients of its rows' results)^T * what the rows were multiplied with.
  [[nodiscard]] Value weight_gradient(const Value& results, const Value& operands) const;

 private:
  [[nodiscard]] Value part(const Value& stacked, std::size_t direction) const;
  void read_gradients(RuleContext& context, std::size_t direction);

  bool backwards_ = false;
  std::size_t steps_ = 0;
  std::size_t directions_ = 1;
};

/// What the gradient of a cell gives for one direction.
struct CellGradients {
  Value at_input;  ///< gradients where the input's products enter the gates, [steps, batch, gates * hidden]
  Value at_state;  ///< and where the state's products do
  Value r;         ///< of the weight R
  Value h0, c0;    ///< of the states before the first step
};

[[nodiscard]] CellGradients lstm_gradients(const Sweep& sweep);
[[nodiscard]] CellGradients gru_gradients(const Sweep& sweep, bool reset_after_product);
[[nodiscard]] CellGradients rnn_gradients(const Sweep& sweep, bool relu);

}  // namespace aflguard::models
