#include "models/rules/recurrent.h"

#include "models/rules/gradient_rules.h"

namespace aflguard::models {

Sweep::Sweep(RuleContext& context, std::size_t direction) : g(context.g) {
  const Node& node = context.node();
  const std::string name = node.string_or("direction", "forward");
  directions_ = name == "bidirectional" ? 2 : 1;
  backwards_ = name == "reverse" || direction == 1;
  hidden = context.input_shape(2)[2].value;
  steps_ = static_cast<std::size_t>(context.input_shape(0)[0].value);
  x = context.input(0);
  w = part(context.input(1), direction);
  r = part(context.input(2), direction);
  if (!context.input(3).empty()) {
    const Value bias = part(context.input(3), direction);
    const std::int64_t half = context.input_shape(1)[1].value;
    wb = g.slice(bias, {0}, {0}, {half});
    rb = g.slice(bias, {0}, {half}, {2 * half});
  }
  const Value all = context.output(0);
  if (!g.status().ok()) return;
  const auto at = static_cast<std::int64_t>(direction);
  const Shape shape = g.shape(all);
  y = g.reshape(directions_ == 1 ? all : g.slice(all, {1}, {at}, {at + 1}), {shape[0], shape[2], shape[3]});
  const auto state = [&](std::size_t input) {
    if (context.input(input).empty()) return sum({});
    return directions_ == 1 ? context.input(input) : g.slice(context.input(input), {0}, {at}, {at + 1});
  };
  h0 = state(5);
  c0 = state(6);
  const auto last = static_cast<std::int64_t>(steps_);
  if (steps_ == 1) {
    before = h0;
  } else if (backwards_) {
    before = g.concat({g.slice(y, {0}, {1}, {last}), h0}, 0);
  } else {
    before = g.concat({h0, g.slice(y, {0}, {0}, {last - 1})}, 0);
  }
  read_gradients(context, direction);
}

/// The loss sees the states of all steps, the last state on its own, or both.
void Sweep::read_gradients(RuleContext& context, std::size_t direction) {
  if (!g.status().ok()) return;
  const auto at = static_cast<std::int64_t>(direction);
  dy.assign(steps_, Value());
  if (const Value all = context.gradient(0); !all.empty()) {
    const Value own = directions_ == 1 ? all : g.slice(all, {1}, {at}, {at + 1});
    dy = per_step(g.reshape(own, g.shape(y)));
  }
  const auto of_last = [&](std::size_t output) {
    const Value gradient = context.gradient(output);
    if (gradient.empty() || directions_ == 1) return gradient;
    return g.slice(gradient, {0}, {at}, {at + 1});
  };
  if (const Value last = of_last(1); !last.empty() && g.status().ok()) {
    Value& own = dy[number(steps_ - 1)];
    own = own.empty() ? last : g.add(own, last);
  }
  dc = of_last(2);
}

/// Of a tensor [directions, ...], without the first axis.
Value Sweep::part(const Value& stacked, std::size_t direction) const {
  if (!g.status().ok()) return {};
  const auto at = static_cast<std::int64_t>(direction);
  const Shape whole = g.shape(stacked);
  const Value one = directions_ == 1 ? stacked : g.slice(stacked, {0}, {at}, {at + 1});
  return g.reshape(one, Shape(whole.begin() + 1, whole.end()));
}

std::vector<Value> Sweep::per_step(const Value& all) const {
  if (steps_ == 1) return {all};
  const std::vector<std::int64_t> ones(steps_, 1);
  return g.emit_many({"", "Split"}, {all, g.ints(ones)}, {{"axis", std::int64_t{0}}}, steps_);
}

Value Sweep::columns(const Value& value, std::int64_t first, std::int64_t last) const {
  return g.slice(value, {2}, {first * hidden}, {last * hidden});
}

Value Sweep::rows(const Value& weight, std::int64_t first, std::int64_t last) const {
  return weight.empty() ? weight : g.slice(weight, {0}, {first * hidden}, {last * hidden});
}

Value Sweep::affine(const Value& value, const Value& weight, const Value& bias) const {
  const Value result = product(value, g.transpose(weight, {1, 0}));
  return bias.empty() ? result : g.add(result, bias);
}

Value Sweep::sum(const std::vector<Value>& parts) const {
  Value total;
  for (const Value& part : parts) {
    if (!part.empty()) total = total.empty() ? part : g.add(total, part);
  }
  if (!total.empty() || !g.status().ok()) return total;
  const Shape one_step{{1, false}, g.shape(y)[1], {hidden, false}};
  const Value like = steps_ == 1 ? y : g.slice(y, {0}, {0}, {1});
  return g.emit_shaped("ConstantOfShape", {g.emit("Shape", {like})}, {}, {ElementType::kFloat, one_step});
}

Value Sweep::weight_gradient(const Value& results, const Value& operands) const {
  const auto as_rows = [&](const Value& value) {
    if (!g.status().ok()) return value;
    const Shape& shape = g.shape(value);
    const auto count = times(shape[0], shape[1]);
    if (!count) g.fail(unsupported("the shape " + text(shape) + " is too large"));
    return count ? g.reshape(value, {*count, shape[2]}) : value;
  };
  return g.emit("Gemm", {as_rows(results), as_rows(operands)}, {{"transA", std::int64_t{1}}});
}

namespace {

CellGradients gradients_of(const Sweep& sweep, const Node& node) {
  if (node.op.op_type == "LSTM") return lstm_gradients(sweep);
  if (node.op.op_type == "GRU") return gru_gradients(sweep, node.int_or("linear_before_reset", 0) != 0);
  return rnn_gradients(sweep, node.has("activations"));
}

/// Both directions' gradients of one input, one behind the other.
void give_stacked(RuleContext& c, std::size_t input, std::vector<Value> parts) {
  if (!c.wants(input)) return;
  for (Value& part : parts) {
    Shape one = c.input_shape(input);
    one[0] = Dim{};
    part = c.g.reshape(part, one);
  }
  c.give(input, c.g.concat(std::move(parts), 0));
}

Status recurrent(RuleContext& c) {
  const std::size_t directions = c.node().string_or("direction", "forward") == "bidirectional" ? 2 : 1;
  Value dx;
  std::vector<Value> dw, dr, db, dh0, dc0;
  for (std::size_t direction = 0; direction < directions; ++direction) {
    const Sweep sweep(c, direction);
    if (!c.g.status().ok()) return {};
    const CellGradients gradients = gradients_of(sweep, c.node());
    if (!c.g.status().ok()) return {};
    if (c.wants(0)) {
      const Value part = sweep.product(gradients.at_input, sweep.w);
      dx = dx.empty() ? part : c.g.add(dx, part);
    }
    if (c.wants(1)) dw.push_back(sweep.weight_gradient(gradients.at_input, sweep.x));
    dr.push_back(gradients.r);
    if (c.wants(3)) {
      const Value at_input = c.g.reduce_sum(gradients.at_input, {0, 1}, false);
      const Value at_state = gradients.at_state == gradients.at_input
                                 ? at_input
                                 : c.g.reduce_sum(gradients.at_state, {0, 1}, false);
      db.push_back(c.g.concat({at_input, at_state}, 0));
    }
    dh0.push_back(gradients.h0);
    dc0.push_back(gradients.c0);
  }
  if (c.wants(0)) c.give(0, dx);
  give_stacked(c, 1, dw);
  give_stacked(c, 2, dr);
  give_stacked(c, 3, db);
  give_stacked(c, 5, dh0);
  give_stacked(c, 6, dc0);
  return {};
}

}  // namespace

void add_recurrent_rules(OperatorSet& operators) {
  for (const char* name : {"LSTM", "GRU", "RNN"}) operators.gradients[{"", name}] = recurrent;
}

}  // namespace aflguard::models
