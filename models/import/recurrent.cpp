#include "models/recurrent.h"

#include <algorithm>
#include <map>

#include "models/import/import_context.h"

namespace aflguard::models {
namespace {

/// Everything about a node that is known before its inputs are looked at.
struct Layer {
  std::string op;
  std::int64_t directions = 1;
  bool batch_first = false;  ///< layout = 1
};

/// The activations that each cell is defined with; one list per direction, by their names in lower case.
std::vector<std::string> usual_activations(const std::string& op) {
  if (op == "LSTM") return {"sigmoid", "tanh", "tanh"};
  if (op == "GRU") return {"sigmoid", "tanh"};
  return {"tanh"};
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return text;
}

/// The usual activations only; an RNN may also have Relu, the same for both directions.
Result<std::string> read_activations(ImportContext& c, const Layer& layer) {
  const auto usual = usual_activations(layer.op);
  const auto names = c.node.strings_or("activations", {});
  std::string first = names.empty() ? usual.front() : lower_case(names.front());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string wanted = layer.op == "RNN" && first == "relu" ? "relu" : usual[i % usual.size()];
    if (lower_case(names[i]) != wanted) {
      return c.refuse("its activation " + std::to_string(i) + " is '" + names[i] + "'; only '" + wanted +
                      "' is supported there");
    }
  }
  for (const char* key : {"activation_alpha", "activation_beta"}) {
    if (c.node.has(key)) return c.refuse(std::string(key) + " is not supported; export it without");
  }
  return first;
}

Result<Layer> read_layer(ImportContext& c) {
  Layer layer{c.node.op.op_type};
  const std::string direction = c.node.string_or("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return c.refuse("its direction is '" + direction + "'; use forward, reverse or bidirectional");
  }
  layer.directions = direction == "bidirectional" ? 2 : 1;
  layer.batch_first = c.node.int_or("layout", 0) != 0;
  if (c.node.has("clip")) return c.refuse("clip is not supported; export it without");
  if (c.node.int_or("input_forget", 0) != 0) return c.refuse("input_forget is not supported");
  if (c.has(4)) {
    return c.refuse("it has sequence_lens (a length for each sample); only samples of equal length are " +
                    std::string("supported: export it without packed sequences"));
  }
  if (layer.op == "LSTM" && c.has(7)) return c.refuse("it has peepholes (input P), which are not supported");
  return layer;
}

/// The input as [steps, batch, features], of a number of steps that is known.
Result<Value> sequence(ImportContext& c, const Layer& layer) {
  Value x = c.input(0);
  TRY_STATUS(c.g.status());
  if (c.g.rank(x) != 3)
    return c.refuse("its input " + text(c.g.shape(x)) + " is not [steps, batch, features]");
  if (layer.batch_first) x = c.g.transpose(x, {1, 0, 2});
  const Shape shape = c.g.shape(x);
  if (!shape[1].batch) {
    return c.refuse("its input " + text(shape) +
                    ", read as [steps, batch, features], does not have the batch " +
                    "in its second place; in PyTorch, use batch_first=True");
  }
  if (shape[0].value > kMaxSteps) {
    return c.refuse("its input has " + std::to_string(shape[0].value) + " steps; at most " +
                    std::to_string(kMaxSteps) + " can be trained: cut the samples into shorter windows");
  }
  return x;
}

bool all_zero(const Tensor* tensor) {
  if (!tensor || tensor->type != ElementType::kFloat) return false;
  return std::ranges::all_of(tensor->values<float>(), [](float value) { return value == 0; });
}

/// The state before the first step as [directions, batch, hidden]; empty where it is zero anyway.
Result<Value> initial_state(ImportContext& c, const Layer& layer, std::size_t index, const Shape& wanted) {
  if (!c.has(index)) return Value();
  Value state = c.input(index);
  TRY_STATUS(c.g.status());
  // A file for one batch size has zeros for that many samples.
  if (!depends_on_batch(c.g.shape(state)) && all_zero(c.constant_or_parameter(index))) return Value();
  if (layer.batch_first && c.g.rank(state) == 3) state = c.g.transpose(state, {1, 0, 2});
  const Shape shape = c.g.shape(state);
  if (shape == wanted) return state;
  Shape repeated = shape;
  if (shape.size() == 3 && shape[1].is(1)) repeated[1] = wanted[1];
  if (repeated != wanted) {
    return c.refuse("its initial state is " + text(shape) + ", expected " + text(wanted) +
                    "; export the model with a dynamic batch dimension");
  }
  return c.g.emit_shaped("Expand", {state, c.runtime_shape(wanted)}, {}, {ElementType::kFloat, wanted});
}

/// What ONNX gives back with the steps first, where the node wants the batch first.
void give_outputs(ImportContext& c, const Layer& layer, const std::vector<Value>& outputs) {
  for (std::size_t i = 0; i < outputs.size() && i < c.node.outputs.size(); ++i) {
    const Axes batch_first = i == 0 ? Axes{2, 0, 1, 3} : Axes{1, 0, 2};
    c.give(i, layer.batch_first ? c.g.transpose(outputs[i], batch_first) : outputs[i]);
  }
}

/// Everything in one form: steps first, no length of each sample, default settings left out.
Status recurrent(ImportContext& c) {
  TRY(const Layer layer, read_layer(c));
  TRY(const std::string activation, read_activations(c, layer));
  TRY(const Value x, sequence(c, layer));
  const Value w = c.input(1);
  const Value r = c.input(2);
  TRY_STATUS(c.g.status());
  if (c.g.rank(r) != 3) return c.refuse("its weight R is " + text(c.g.shape(r)) + ", expected three axes");
  const std::int64_t hidden = c.g.shape(r)[2].value;
  if (c.node.int_or("hidden_size", hidden) != hidden) {
    return c.refuse("hidden_size is " + std::to_string(c.node.int_or("hidden_size", hidden)) +
                    ", but its weight R is " + text(c.g.shape(r)));
  }
  const Shape state{{layer.directions, false}, c.g.shape(x)[1], {hidden, false}};
  std::vector<Value> inputs{x, w, r, c.has(3) ? c.input(3) : Value(), ""};
  TRY(const Value h, initial_state(c, layer, 5, state));
  inputs.push_back(h);
  if (layer.op == "LSTM") {
    TRY(const Value cell, initial_state(c, layer, 6, state));
    inputs.push_back(cell);
  }
  while (inputs.back().empty()) inputs.pop_back();
  Attributes attributes{{"hidden_size", hidden}, {"direction", c.node.string_or("direction", "forward")}};
  if (layer.op == "GRU") attributes["linear_before_reset"] = c.node.int_or("linear_before_reset", 0);
  if (activation == "relu") {
    attributes["activations"] = std::vector<std::string>(static_cast<std::size_t>(layer.directions), "Relu");
  }
  const std::size_t outputs = layer.op == "LSTM" ? 3 : 2;
  give_outputs(c, layer, c.g.emit_many({"", layer.op}, std::move(inputs), std::move(attributes), outputs));
  return {};
}

}  // namespace

void add_recurrent_imports(ImportTable& table) {
  for (const char* name : {"LSTM", "GRU", "RNN"}) table[name] = recurrent;
}

}  // namespace aflguard::models
