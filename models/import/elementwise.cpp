#include "models/import/import_context.h"

namespace aflguard::models {
namespace {

/// The same operator with the same attributes.
Status copy(ImportContext& c) {
  c.give(0, c.g.emit(c.node.op.op_type, c.all_inputs(), c.node.attributes));
  return {};
}

Status alias(ImportContext& c) {
  c.give(0, c.input(0));
  return {};
}

/// Exporters write one for a parameter that is used under two names, also where two happened to be equal.
Status identity(ImportContext& c) {
  if (c.is_parameter(0)) {
    c.note("'" + c.node.outputs.front() + "' is the same tensor as '" + c.node.input(0) +
           "' and is trained with it; export the model in training mode to keep equal parameters apart");
  }
  return alias(c);
}

/// With any number of inputs, as a chain of two-input operators.
Status chain(ImportContext& c, const char* op_type) {
  Value result = c.input(0);
  for (std::size_t i = 1; i < c.node.inputs.size(); ++i) result = c.g.emit(op_type, {result, c.input(i)});
  c.give(0, result);
  return {};
}
Status sum(ImportContext& c) {
  return chain(c, "Add");
}
Status max(ImportContext& c) {
  return chain(c, "Max");
}
Status min(ImportContext& c) {
  return chain(c, "Min");
}
Status mean(ImportContext& c) {
  TRY_STATUS(chain(c, "Add"));
  const Value total = std::get<Value>(*c.given()[0]);
  c.give(0, c.g.scaled(total, 1.0F / static_cast<float>(c.node.inputs.size())));
  return {};
}

/// Bounds are attributes before opset 11.
Status clip(ImportContext& c) {
  Value low = c.has(1) ? c.input(1) : Value();
  Value high = c.has(2) ? c.input(2) : Value();
  if (c.node.has("min")) low = c.g.scalar(c.node.float_or("min", 0));
  if (c.node.has("max")) high = c.g.scalar(c.node.float_or("max", 0));
  std::vector<Value> inputs{c.input(0)};
  if (!low.empty() || !high.empty()) inputs.push_back(low);
  if (!high.empty()) inputs.push_back(high);
  c.give(0, c.g.emit("Clip", std::move(inputs)));
  return {};
}

Status power(ImportContext& c) {
  const auto exponent = c.scalar(1);
  if (!exponent) return c.refuse("only a constant exponent is supported");
  const Value x = c.input(0);
  if (*exponent == 2.0F) {
    c.give(0, c.g.mul(x, x));
  } else if (*exponent == 1.0F) {
    c.give(0, x);
  } else {
    c.give(0, c.g.emit("Pow", {x, c.g.scalar(*exponent)}));
  }
  return {};
}

/// Among floats the value stays; other casts carry no gradient.
Status cast(ImportContext& c) {
  const auto to = static_cast<ElementType>(c.node.int_or("to", 0));
  if (const auto ints = c.ints(0); ints.ok() && !ints->depends_on_batch() && to == ElementType::kFloat) {
    // Exporters write x.pow(2) with an integer that is cast: it must stay a constant.
    std::vector<float> values;
    for (const Dim& number : ints->values) values.push_back(static_cast<float>(number.value));
    c.give(0, c.g.constant(float_tensor(values, ints->shape)));
    return {};
  }
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  if (c.g.graph().info(x).type == to) {
    c.give(0, x);
    return {};
  }
  if (to != ElementType::kFloat && to != ElementType::kInt64 && to != ElementType::kInt32 &&
      to != ElementType::kBool) {
    return c.refuse("it casts to " + element_type_name(to) + "; models are trained in float32");
  }
  c.give(0, c.g.emit("Cast", {x}, {{"to", static_cast<std::int64_t>(to)}}));
  return {};
}

/// Training drops nothing: gradients must not depend on chance.
Status dropout(ImportContext& c) {
  c.note(describe(c.node) + " is treated as identity: training on the device drops nothing");
  return alias(c);
}

/// alpha * elu(x / alpha)
Status celu(ImportContext& c) {
  const float alpha = c.node.float_or("alpha", 1.0F);
  c.give(0, c.g.scaled(c.g.emit("Elu", {c.g.scaled(c.input(0), 1 / alpha)}), alpha));
  return {};
}

Status gelu(ImportContext& c) {
  const Value x = c.input(0);
  Value gate;
  if (c.node.string_or("approximate", "none") == "tanh") {
    const Value cubic = c.g.scaled(c.g.mul(x, c.g.mul(x, x)), 0.044715F);
    gate = c.g.emit("Tanh", {c.g.scaled(c.g.add(x, cubic), 0.7978845608028654F)});
  } else {
    gate = c.g.emit("Erf", {c.g.scaled(x, 0.70710678118654752F)});
  }
  c.give(0, c.g.mul(c.g.scaled(x, 0.5F), c.g.add(gate, c.g.scalar(1))));
  return {};
}

Status mish(ImportContext& c) {
  const Value x = c.input(0);
  c.give(0, c.g.mul(x, c.g.emit("Tanh", {c.g.emit("Softplus", {x})})));
  return {};
}

Status softmax(ImportContext& c) {
  const Value x = c.input(0);
  if (!c.g.status().ok()) return {};
  const Shape shape = c.g.shape(x);
  TRY(const std::size_t axis, normal_axis(c.node.int_or("axis", c.opset < 13 ? 1 : -1), shape.size()));
  if (c.opset >= 13 || axis + 1 == shape.size()) {
    c.give(0, c.g.emit(c.node.op.op_type, {x}, {{"axis", static_cast<std::int64_t>(axis)}}));
    return {};
  }
  // Before opset 13 everything from the axis on is one group.
  const auto rows = product(std::span(shape).first(axis));
  const auto columns = product(std::span(shape).subspan(axis));
  if (!rows || !columns || columns->batch) return c.refuse("it would mix the samples of a batch");
  const Value flat =
      c.g.emit(c.node.op.op_type, {c.g.reshape(x, {*rows, *columns})}, {{"axis", std::int64_t{1}}});
  c.give(0, c.g.reshape(flat, shape));
  return {};
}

}  // namespace

void add_elementwise_imports(ImportTable& table) {
  for (const char* name :
       {"Add",         "Sub",         "Mul",  "Div",   "Neg",     "Relu",           "LeakyRelu",
        "PRelu",       "Sigmoid",     "Tanh", "Elu",   "Selu",    "Softplus",       "Softsign",
        "HardSwish",   "HardSigmoid", "Exp",  "Log",   "Sqrt",    "Reciprocal",     "Abs",
        "Erf",         "Sin",         "Cos",  "Floor", "Ceil",    "Round",          "Sign",
        "Where",       "And",         "Or",   "Not",   "Greater", "GreaterOrEqual", "Less",
        "LessOrEqual", "Equal"}) {
    table[name] = copy;
  }
  table["Identity"] = identity;
  table["Dropout"] = dropout;
  table["Sum"] = sum;
  table["Max"] = max;
  table["Min"] = min;
  table["Mean"] = mean;
  table["Clip"] = clip;
  table["Pow"] = power;
  table["Cast"] = cast;
  table["Celu"] = celu;
  table["Gelu"] = gelu;
  table["Mish"] = mish;
  table["Softmax"] = softmax;
  table["LogSoftmax"] = softmax;
}

}  // namespace aflguard::models
