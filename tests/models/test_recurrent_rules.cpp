#include "models/recurrent.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

struct Cell {
  std::string op = "LSTM";
  std::int64_t steps = 4;
  std::int64_t features = 3;
  std::int64_t hidden = 5;
  std::string direction = "forward";
  Attributes more = {};

  [[nodiscard]] std::int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
  [[nodiscard]] std::size_t outputs() const { return op == "LSTM" ? 3 : 2; }
};

/// [batch, steps, features] -> the layer's outputs "y", "h" and "c", steps first.
FileBuilder layer(const Cell& cell, std::vector<Value> states = {}) {
  FileBuilder file({cell.steps, cell.features}, 14);
  const std::int64_t rows = gates_of(cell.op) * cell.hidden;
  file.weight("w", {cell.directions(), rows, cell.features})
      .weight("r", {cell.directions(), rows, cell.hidden})
      .weight("b", {cell.directions(), 2 * rows});
  file.node("Transpose", {"x"}, "s", {{"perm", Ints{1, 0, 2}}});
  Attributes attributes = cell.more;
  attributes["hidden_size"] = cell.hidden;
  if (cell.direction != "forward") attributes["direction"] = cell.direction;
  std::vector<Value> inputs{"s", "w", "r", "b", ""};
  inputs.insert(inputs.end(), states.begin(), states.end());
  std::vector<Value> outputs{"y", "h", "c"};
  outputs.resize(cell.outputs());
  file.model.nodes.push_back({{"", cell.op}, inputs, outputs, attributes, "the_layer"});
  return file;
}

/// All states, batch first.
FileBuilder& all_states(FileBuilder& file) {
  return file.node("Transpose", {"y"}, "out", {{"perm", Ints{2, 0, 1, 3}}});
}

FileBuilder& last_state(FileBuilder& file, const Value& which = "h") {
  return file.node("Transpose", {which}, "out", {{"perm", Ints{1, 0, 2}}});
}

}  // namespace

TEST("LSTM has correct gradients in every direction, for all states and for the last one") {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    FileBuilder all = layer({.direction = direction});
    expect_gradient(all_states(all), 3);
    FileBuilder last = layer({.direction = direction});
    expect_gradient(last_state(last), 3);
    FileBuilder cells = layer({.direction = direction});
    expect_gradient(last_state(cells, "c"), 3);
  }
}

TEST("GRU has correct gradients, with the reset gate before and after the product") {
  for (const std::int64_t after : {0, 1}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      const Cell cell{.op = "GRU", .direction = direction, .more = {{"linear_before_reset", after}}};
      FileBuilder all = layer(cell);
      expect_gradient(all_states(all), 3);
      FileBuilder last = layer(cell);
      expect_gradient(last_state(last), 3);
    }
  }
}

TEST("RNN has correct gradients, with tanh and with relu") {
  FileBuilder plain = layer({.op = "RNN", .direction = "bidirectional"});
  expect_gradient(all_states(plain), 3);
  FileBuilder relu = layer({.op = "RNN", .more = {{"activations", Strings{"Relu"}}}});
  expect_gradient(last_state(relu), 3);
}

TEST("Recurrent layers train with one step, one feature and one hidden number") {
  for (const char* op : {"LSTM", "GRU", "RNN"}) {
    for (const char* direction : {"reverse", "bidirectional"}) {
      FileBuilder step = layer({.op = op, .steps = 1, .direction = direction});
      expect_gradient(all_states(step), 3);
      FileBuilder one = layer({.op = op, .steps = 3, .features = 1, .hidden = 1, .direction = direction});
      expect_gradient(all_states(one), 3);
    }
  }
}

TEST("Recurrent layers stack, and share the gradient of an output that is used twice") {
  FileBuilder file = layer({.op = "GRU", .more = {{"linear_before_reset", std::int64_t{1}}}});
  file.ints("drop", {1}).node("Squeeze", {"y", "drop"}, "first");
  file.weight("w2", {1, 8, 5}).weight("r2", {1, 8, 2});
  file.model.nodes.push_back({{"", "LSTM"}, {"first", "w2", "r2"}, {"y2"}, {}, "second"});
  file.node("Squeeze", {"y2", "drop"}, "z").node("Transpose", {"z"}, "back", {{"perm", Ints{1, 0, 2}}});
  file.ints("flat", {0, -1}).node("Reshape", {"back", "flat"}, "left");
  file.node("Transpose", {"h"}, "ht", {{"perm", Ints{1, 0, 2}}}).node("Reshape", {"ht", "flat"}, "right");
  file.node("Concat", {"left", "right"}, "out", {{"axis", std::int64_t{1}}});
  expect_gradient(file, 5);
}

TEST("States before the first step are trained when they are parameters, for each sample the same") {
  for (const char* direction : {"forward", "bidirectional"}) {
    const Cell cell{.direction = direction};
    FileBuilder file = layer(cell, {"h0", "c0"});
    file.weight("h0", {cell.directions(), 1, 5}).weight("c0", {cell.directions(), 1, 5});
    expect_gradient(all_states(file), 5);
  }
}

TEST("Zeros for the batch size of the file are the states before the first step of every batch") {
  FileBuilder file = layer({}, {"zeros", "zeros"});
  file.model.inputs[0].dims[0] = {8, ""};
  file.model.initializers.push_back({"zeros", float_tensor(std::vector<float>(40, 0.0F), {1, 8, 5})});
  expect_gradient(all_states(file), 3);
  FileBuilder ones = layer({}, {"ones"});
  ones.model.inputs[0].dims[0] = {8, ""};
  ones.model.initializers.push_back({"ones", float_tensor(std::vector<float>(40, 1.0F), {1, 8, 5})});
  expect_refusal(all_states(ones), {"'the_layer' (LSTM)", "initial state", "[1, 8, 5]", "dynamic batch"});
}

TEST("A layer with the batch in front (layout 1) gives the batch in front") {
  FileBuilder file({4, 3}, 14);
  file.weight("w", {1, 8, 3}).weight("r", {1, 8, 2});
  file.model.nodes.push_back(
      {{"", "LSTM"}, {"x", "w", "r"}, {"out", "h", "c"}, {{"layout", std::int64_t{1}}}, "the_layer"});
  expect_gradient(file, 2);
}

TEST("The longest sequence is trained, one step more is refused with the limit") {
  const Cell longest{.op = "RNN", .steps = kMaxSteps, .features = 1, .hidden = 1};
  FileBuilder file = layer(longest);
  ASSERT_OK(build(last_state(file).model, Loss::kMeanSquaredError));
  Cell longer = longest;
  longer.steps = kMaxSteps + 1;
  FileBuilder refused = layer(longer);
  expect_refusal(last_state(refused),
                 {"'the_layer' (RNN)", std::to_string(kMaxSteps + 1) + " steps", std::to_string(kMaxSteps)});
}

TEST("Forms of recurrent layers without a rule are refused with node and setting") {
  const auto refused = [](const Cell& cell, const std::vector<std::string>& parts) {
    FileBuilder file = layer(cell);
    std::vector<std::string> all{"'the_layer' (" + cell.op + ")"};
    all.insert(all.end(), parts.begin(), parts.end());
    expect_refusal(last_state(file), all);
  };
  refused({.direction = "sideways"}, {"'sideways'", "bidirectional"});
  refused({.more = {{"clip", 3.0F}}}, {"clip"});
  refused({.more = {{"input_forget", std::int64_t{1}}}}, {"input_forget"});
  refused({.more = {{"activations", Strings{"Sigmoid", "Relu", "Tanh"}}}}, {"'Relu'", "'tanh'"});
  refused({.op = "GRU", .more = {{"activations", Strings{"HardSigmoid", "Tanh"}}}}, {"'HardSigmoid'"});
  refused({.op = "RNN", .more = {{"activations", Strings{"Elu"}}}}, {"'Elu'"});
  refused({.more = {{"activation_alpha", std::vector<float>{1}}}}, {"activation_alpha"});
  FileBuilder lengths = layer({});
  lengths.ints("lens", {4}).model.nodes.back().inputs[4] = "lens";
  expect_refusal(last_state(lengths), {"'the_layer' (LSTM)", "sequence_lens"});
  FileBuilder peepholes = layer({}, {"", "", "p"});
  peepholes.weight("p", {1, 15});
  expect_refusal(last_state(peepholes), {"'the_layer' (LSTM)", "peepholes"});
  FileBuilder size = layer({});
  size.model.nodes.back().attributes["hidden_size"] = std::int64_t{4};
  expect_refusal(last_state(size), {"'the_layer' (LSTM)", "hidden_size is 4"});
}

TEST("Weights and inputs that do not fit a recurrent layer are refused with their shapes") {
  FileBuilder steps_first({4, 3}, 14);
  steps_first.weight("w", {1, 8, 3}).weight("r", {1, 8, 2});
  steps_first.model.nodes.push_back({{"", "LSTM"}, {"x", "w", "r"}, {"y", "out"}, {}, "the_layer"});
  expect_refusal(steps_first, {"'the_layer' (LSTM)", "[batch, 4, 3]", "batch_first=True"});
  FileBuilder weight({4, 3}, 14);
  weight.weight("w", {1, 8, 4})
      .weight("r", {1, 8, 2})
      .node("Transpose", {"x"}, "s", {{"perm", Ints{1, 0, 2}}});
  weight.model.nodes.push_back({{"", "LSTM"}, {"s", "w", "r"}, {"y", "out"}, {}, "the_layer"});
  expect_refusal(weight, {"'the_layer' (LSTM)", "weight W is [1, 8, 4]", "[1, 8, 3]"});
}
