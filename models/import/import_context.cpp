#include "models/import/import_context.h"

#include <algorithm>

namespace aflguard::models {

Value ImportContext::input(std::size_t index) {
  const std::string name = node.input(index);
  const auto found = state_.names.find(name);
  if (found == state_.names.end()) {
    g.fail(unsupported(
        describe(node) + ": its input " + std::to_string(index) +
        (name.empty() ? " is missing" : " ('" + name + "') is made by no node that is supported")));
    return {};
  }
  if (const auto* value = std::get_if<Value>(&found->second)) return *value;
  const auto& ints = std::get<SymbolicInts>(found->second);
  if (ints.depends_on_batch()) {
    g.fail(unsupported(describe(node) + ": it computes with the batch size, which is free"));
    return {};
  }
  return g.constant(to_tensor(ints));
}

std::vector<Value> ImportContext::all_inputs() {
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(has(i) ? input(i) : Value());
  return inputs;
}

Result<SymbolicInts> ImportContext::ints(std::size_t index) const {
  const auto found = state_.names.find(node.input(index));
  if (found == state_.names.end() || !std::holds_alternative<SymbolicInts>(found->second)) {
    return refuse("its input " + std::to_string(index) + " ('" + node.input(index) +
                  "') is computed at run time; only constants and shapes are supported");
  }
  return std::get<SymbolicInts>(found->second);
}

Result<std::vector<std::int64_t>> ImportContext::setting(const char* attribute, std::size_t input,
                                                         std::vector<std::int64_t> default_value) const {
  if (node.has(attribute)) return node.ints_or(attribute, default_value);
  if (!has(input)) return default_value;
  TRY(const SymbolicInts values, ints(input));
  auto constants = values.constants();
  if (!constants.ok())
    return refuse("its input " + std::to_string(input) + " depends on the batch size, which is free");
  return constants;
}

std::optional<float> ImportContext::scalar(std::size_t index) {
  if (const auto numbers = ints(index); numbers.ok() && numbers->values.size() == 1) {
    if (numbers->depends_on_batch()) return {};
    return static_cast<float>(numbers->values.front().value);
  }
  const Tensor* tensor = constant_or_parameter(index);
  if (!tensor || tensor->type != ElementType::kFloat || tensor->size() != 1) return {};
  return tensor->values<float>().front();
}

const Tensor* ImportContext::constant_or_parameter(std::size_t index) {
  const Value value = input(index);
  for (const auto* tensors : {&g.graph().constants, &state_.parameter_values}) {
    const auto found = tensors->find(value);
    if (found != tensors->end()) return &found->second;
  }
  return nullptr;
}

Value ImportContext::runtime_shape(const Shape& shape) {
  if (!depends_on_batch(shape)) return g.ints(reshape_target(shape));
  const Value batch =
      g.emit("Shape", {g.graph().inputs.front()}, {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
  std::vector<Value> parts;
  for (const Dim& dim : shape) {
    if (!dim.batch) parts.push_back(g.ints({dim.value}));
    if (dim.batch) parts.push_back(dim.value == 1 ? batch : g.mul(batch, g.ints({dim.value})));
  }
  return g.concat(std::move(parts), 0);
}

}  // namespace aflguard::models
