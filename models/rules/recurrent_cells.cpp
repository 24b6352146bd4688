#include "models/rules/recurrent.h"

namespace aflguard::models {
namespace {

Value one_minus(GraphBuilder& g, const Value& value) {
  return g.sub(g.scalar(1), value);
}
/// Slopes of sigmoid and tanh, from their results.
Value sigmoid_slope(GraphBuilder& g, const Value& y) {
  return g.mul(y, one_minus(g, y));
}
Value tanh_slope(GraphBuilder& g, const Value& y) {
  return one_minus(g, g.mul(y, y));
}

/// The cell state after each step, c = f * c_before + i * g.
std::vector<Value> cell_states(const Sweep& s, const std::vector<Value>& forget, const Value& added) {
  const std::vector<Value> gains = s.per_step(added);
  std::vector<Value> states(s.steps());
  Value state = s.c0;
  for (std::size_t k = 0; k < s.steps(); ++k) {
    const std::size_t at = s.number(k);
    state = s.g.add(s.g.mul(forget[at], state), gains[at]);
    states[at] = state;
  }
  return states;
}

}  // namespace

/// Gates in ONNX's order: i, o, f and the candidate n. h = o * tanh(c), c = f * c_before + i * n. All factors
/// that turn dc and dh into gradients before the activations are known for every step before the walk begins.
CellGradients lstm_gradients(const Sweep& s) {
  GraphBuilder& g = s.g;
  const Value sums = g.add(s.affine(s.x, s.w, s.wb), s.affine(s.before, s.r, s.rb));
  const Value opened = g.emit("Sigmoid", {s.columns(sums, 0, 3)});
  const Value i = s.columns(opened, 0, 1);
  const Value o = s.columns(opened, 1, 2);
  const Value f = s.columns(opened, 2, 3);
  const Value n = g.emit("Tanh", {s.columns(sums, 3, 4)});
  const std::vector<Value> forget = s.per_step(f);
  const std::vector<Value> cells = cell_states(s, forget, g.mul(i, n));
  std::vector<Value> cells_before(s.steps());
  for (std::size_t k = 0; k < s.steps(); ++k)
    cells_before[s.number(k)] = k == 0 ? s.c0 : cells[s.number(k - 1)];
  const Value shown = g.emit("Tanh", {s.joined(cells)});
  const Value by_i = g.mul(n, sigmoid_slope(g, i));
  const Value by_o = g.mul(shown, sigmoid_slope(g, o));
  const Value by_f = g.mul(s.joined(cells_before), sigmoid_slope(g, f));
  const Value by_n = g.mul(i, tanh_slope(g, n));
  const std::vector<Value> factors = s.per_step(g.concat({by_i, by_o, by_f, by_n}, 2));
  const std::vector<Value> into_cell = s.per_step(g.mul(o, tanh_slope(g, shown)));

  std::vector<Value> gates(s.steps());
  Value dh;  // passed on by later steps
  Value dc = s.dc;
  for (std::size_t k = s.steps(); k-- > 0;) {
    const std::size_t at = s.number(k);
    dh = s.sum({s.dy[at], dh});
    dc = s.sum({dc, g.mul(dh, into_cell[at])});
    gates[at] = g.mul(g.concat({dc, dh, dc, dc}, 2), factors[at]);
    dh = s.product(gates[at], s.r);
    dc = g.mul(dc, forget[at]);
  }
  const Value all = s.joined(gates);
  return {all, all, s.weight_gradient(all, s.before), dh, dc};
}

namespace {

/// Gates of a GRU for all steps, and the factors that turn dh into gradients before the activations.
struct GruGates {
  Value z, r;
  Value
      products;  ///< of the state with the candidate's rows of R, with bias; only for reset after the product
  Value by_z;    ///< of the gate z
  Value by_n;    ///< of the candidate n
};

/// Gates in ONNX's order: z, r and the candidate n. h = (1 - z) * n + z * before.
GruGates gru_gates(const Sweep& s, bool reset_after_product) {
  GraphBuilder& g = s.g;
  const Value from_x = s.affine(s.x, s.w, s.wb);
  GruGates gates;
  Value opened;
  Value candidate;
  if (reset_after_product) {
    const Value from_state = s.affine(s.before, s.r, s.rb);
    opened = g.emit("Sigmoid", {g.add(s.columns(from_x, 0, 2), s.columns(from_state, 0, 2))});
    gates.r = s.columns(opened, 1, 2);
    gates.products = s.columns(from_state, 2, 3);
    candidate = g.mul(gates.r, gates.products);
  } else {
    const Value from_state = s.affine(s.before, s.rows(s.r, 0, 2), s.rows(s.rb, 0, 2));
    opened = g.emit("Sigmoid", {g.add(s.columns(from_x, 0, 2), from_state)});
    gates.r = s.columns(opened, 1, 2);
    candidate = s.affine(g.mul(gates.r, s.before), s.rows(s.r, 2, 3), s.rows(s.rb, 2, 3));
  }
  gates.z = s.columns(opened, 0, 1);
  const Value n = g.emit("Tanh", {g.add(s.columns(from_x, 2, 3), candidate)});
  gates.by_z = g.mul(g.sub(s.before, n), sigmoid_slope(g, gates.z));
  gates.by_n = g.mul(one_minus(g, gates.z), tanh_slope(g, n));
  return gates;
}

/// n = tanh(... + r * (R before)): everything is dh times a factor that is known before the walk.
CellGradients gru_reset_after(const Sweep& s) {
  GraphBuilder& g = s.g;
  const GruGates all = gru_gates(s, true);
  const Value by_r = g.mul(g.mul(all.by_n, all.products), sigmoid_slope(g, all.r));
  const Value by_product = g.mul(all.by_n, all.r);
  const std::vector<Value> factors = s.per_step(g.concat({all.by_z, by_r, by_product}, 2));
  const std::vector<Value> kept = s.per_step(all.z);
  std::vector<Value> states(s.steps());
  std::vector<Value> gates(s.steps());
  Value dh;
  for (std::size_t k = s.steps(); k-- > 0;) {
    const std::size_t at = s.number(k);
    states[at] = s.sum({s.dy[at], dh});
    gates[at] = g.mul(g.concat({states[at], states[at], states[at]}, 2), factors[at]);
    dh = g.add(s.product(gates[at], s.r), g.mul(states[at], kept[at]));
  }
  const Value at_state = s.joined(gates);
  const Value at_candidate = g.mul(s.joined(states), all.by_n);
  const Value at_input = g.concat({s.columns(at_state, 0, 2), at_candidate}, 2);
  return {at_input, at_state, s.weight_gradient(at_state, s.before), dh, {}};
}

/// n = tanh(... + R (r * before)): the gradient of r goes through R first.
CellGradients gru_reset_before(const Sweep& s) {
  GraphBuilder& g = s.g;
  const GruGates all = gru_gates(s, false);
  const Value r_gates = s.rows(s.r, 0, 2);
  const Value r_candidate = s.rows(s.r, 2, 3);
  const std::vector<Value> by_z = s.per_step(all.by_z);
  const std::vector<Value> by_n = s.per_step(all.by_n);
  const std::vector<Value> by_r = s.per_step(g.mul(s.before, sigmoid_slope(g, all.r)));
  const std::vector<Value> kept = s.per_step(all.z);
  const std::vector<Value> reset = s.per_step(all.r);
  std::vector<Value> gates(s.steps());
  Value dh;
  for (std::size_t k = s.steps(); k-- > 0;) {
    const std::size_t at = s.number(k);
    const Value state = s.sum({s.dy[at], dh});
    const Value candidate = g.mul(state, by_n[at]);
    const Value through = s.product(candidate, r_candidate);
    const Value opened = g.concat({g.mul(state, by_z[at]), g.mul(through, by_r[at])}, 2);
    gates[at] = g.concat({opened, candidate}, 2);
    dh = s.sum({s.product(opened, r_gates), g.mul(state, kept[at]), g.mul(through, reset[at])});
  }
  const Value joined = s.joined(gates);
  const Value dr_gates = s.weight_gradient(s.columns(joined, 0, 2), s.before);
  const Value dr_candidate = s.weight_gradient(s.columns(joined, 2, 3), g.mul(all.r, s.before));
  return {joined, joined, g.concat({dr_gates, dr_candidate}, 0), dh, {}};
}

}  // namespace

CellGradients gru_gradients(const Sweep& sweep, bool reset_after_product) {
  return reset_after_product ? gru_reset_after(sweep) : gru_reset_before(sweep);
}

/// h = tanh(...) or relu(...), whose slopes follow from h.
CellGradients rnn_gradients(const Sweep& s, bool relu) {
  GraphBuilder& g = s.g;
  const std::vector<Value> slopes = s.per_step(relu ? g.emit("Sign", {s.y}) : tanh_slope(g, s.y));
  std::vector<Value> gates(s.steps());
  Value dh;
  for (std::size_t k = s.steps(); k-- > 0;) {
    const std::size_t at = s.number(k);
    gates[at] = g.mul(s.sum({s.dy[at], dh}), slopes[at]);
    dh = s.product(gates[at], s.r);
  }
  const Value all = s.joined(gates);
  return {all, all, s.weight_gradient(all, s.before), dh, {}};
}

}  // namespace aflguard::models
