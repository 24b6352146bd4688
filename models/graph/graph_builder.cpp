#include "models/graph/graph_builder.h"

#include <algorithm>

namespace aflguard::models {

const ValueInfo& ShapeQuery::info(std::size_t input) const {
  static const ValueInfo absent{ElementType::kUndefined, {}};
  if (has(input)) return graph_.info(node_.input(input));
  missing_ = input;
  return absent;
}

Result<std::vector<std::int64_t>> ShapeQuery::ints(std::size_t input) const {
  const auto found = graph_.constants.find(node_.input(input));
  if (found == graph_.constants.end() || found->second.type != ElementType::kInt64) {
    return unsupported("input " + std::to_string(input) + " is computed at run time; it must be a constant");
  }
  return found->second.values<std::int64_t>();
}

Result<std::vector<float>> ShapeQuery::floats(std::size_t input) const {
  const auto found = graph_.constants.find(node_.input(input));
  if (found == graph_.constants.end() || found->second.type != ElementType::kFloat) {
    return unsupported("input " + std::to_string(input) + " is computed at run time; it must be a constant");
  }
  return found->second.values<float>();
}

Status GraphBuilder::status() const {
  return failure_.empty() ? Status() : Status(failure_.front());
}

void GraphBuilder::fail(Error error) {
  if (failure_.empty()) failure_.push_back(std::move(error));
}

const Shape& GraphBuilder::shape(const Value& value) const {
  static const Shape none;
  return failure_.empty() ? graph_.shape(value) : none;
}

Value GraphBuilder::fresh_name(std::string_view hint) {
  Value name;
  do {
    name = std::string(hint) + "_" + std::to_string(next_name_++);
  } while (graph_.values.contains(name));
  return name;
}

Result<std::vector<ValueInfo>> GraphBuilder::infer(const Node& node) const {
  const auto rule = operators_.shapes.find(node.op);
  if (rule == operators_.shapes.end())
    return unsupported(describe(node) + ": this operator is not supported");
  for (const Value& input : node.inputs) {
    if (!input.empty() && !graph_.values.contains(input)) {
      return internal_error(describe(node) + " reads '" + input + "', which nothing makes");
    }
  }
  const ShapeQuery query(graph_, node);
  auto infos = rule->second(query);
  if (query.missing())
    return invalid_input(describe(node) + ": input " + std::to_string(*query.missing()) + " is missing");
  if (!infos.ok()) return at(describe(node), infos.error());
  for (const ValueInfo& info : *infos) {
    if (auto fits = check_extents(info.shape); !fits.ok())
      return at(describe(node) + ": its result", fits.error());
  }
  return infos;
}

Value GraphBuilder::emit(std::string_view op_type, std::vector<Value> inputs, Attributes attributes) {
  return emit_many({"", std::string(op_type)}, std::move(inputs), std::move(attributes), 1).front();
}

std::vector<Value> GraphBuilder::emit_many(const OperatorName& op, std::vector<Value> inputs,
                                           Attributes attributes, std::size_t outputs) {
  std::vector<Value> none(outputs);
  if (!failure_.empty()) return none;
  Node node{op, std::move(inputs), {}, std::move(attributes), origin_};
  auto infos = infer(node);
  if (!infos.ok()) {
    fail(infos.error());
    return none;
  }
  check(outputs <= infos->size(), "an operator has fewer outputs than asked for");
  for (std::size_t i = 0; i < outputs; ++i) {
    node.outputs.push_back(fresh_name(op.op_type));
    graph_.values[node.outputs.back()] = (*infos)[i];
  }
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

Value GraphBuilder::emit_shaped(std::string_view op_type, std::vector<Value> inputs, Attributes attributes,
                                ValueInfo output) {
  if (!failure_.empty()) return {};
  Node node{
      {"", std::string(op_type)}, std::move(inputs), {fresh_name(op_type)}, std::move(attributes), origin_};
  if (auto fits = check_extents(output.shape); !fits.ok()) {
    fail(at(describe(node) + ": its result", fits.error()));
    return {};
  }
  graph_.values[node.outputs.front()] = std::move(output);
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs.front();
}

std::vector<Value> GraphBuilder::extend_outputs(std::size_t node_index, std::size_t outputs) {
  if (!failure_.empty()) return std::vector<Value>(outputs);
  const auto infos = infer(graph_.nodes[node_index]);
  if (!infos.ok()) {
    fail(infos.error());
    return std::vector<Value>(outputs);
  }
  check(outputs <= infos->size(), "an operator has fewer outputs than asked for");
  Node& node = graph_.nodes[node_index];
  while (node.outputs.size() < outputs) {
    const Value name = fresh_name(node.op.op_type);
    graph_.values[name] = (*infos)[node.outputs.size()];
    node.outputs.push_back(name);
  }
  return node.outputs;
}

Value GraphBuilder::constant(Tensor tensor) {
  if (tensor.data.size() <=
      4096) {  // small ones repeat (axes, shapes, zeros); comparing weights would not pay
    for (const auto& [name, existing] : graph_.constants) {
      if (existing == tensor) return name;
    }
  }
  const Value name = fresh_name("constant");
  graph_.values[name] = {tensor.type, constant_shape(tensor.shape)};
  graph_.constants[name] = std::move(tensor);
  return name;
}

Value GraphBuilder::scaled(const Value& a, float factor) {
  return factor == 1.0F ? a : mul(a, scalar(factor));
}

Value GraphBuilder::reshape(const Value& value, const Shape& target) {
  if (!failure_.empty() || shape(value) == target) return value;
  return emit("Reshape", {value, ints(reshape_target(target))});
}

Value GraphBuilder::transpose(const Value& value, const Axes& permutation) {
  return emit("Transpose", {value}, {{"perm", permutation}});
}

Value GraphBuilder::reduce_sum(const Value& value, const Axes& axes, bool keep_dims) {
  if (axes.empty()) return value;
  return emit("ReduceSum", {value, ints(axes)}, {{"keepdims", std::int64_t{keep_dims}}});
}

Value GraphBuilder::reduce_mean(const Value& value, const Axes& axes, bool keep_dims) {
  if (axes.empty()) return value;
  return emit("ReduceMean", {value}, {{"axes", axes}, {"keepdims", std::int64_t{keep_dims}}});
}

Value GraphBuilder::concat(std::vector<Value> values, std::int64_t axis) {
  if (values.size() == 1) return values.front();
  return emit("Concat", std::move(values), {{"axis", axis}});
}

Value GraphBuilder::slice(const Value& value, const Axes& axes, const std::vector<std::int64_t>& starts,
                          const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& steps) {
  std::vector<Value> inputs{value, ints(starts), ints(ends), ints(axes)};
  if (std::ranges::any_of(steps, [](std::int64_t step) { return step != 1; })) inputs.push_back(ints(steps));
  return emit("Slice", std::move(inputs));
}

Value GraphBuilder::pad(const Value& value, const std::vector<std::int64_t>& pads) {
  if (std::ranges::all_of(pads, [](std::int64_t extent) { return extent == 0; })) return value;
  return emit("Pad", {value, ints(pads)});
}

Value GraphBuilder::expand_like(const Value& value, const Value& model) {
  if (!failure_.empty() || shape(value) == shape(model)) return value;
  const Shape target = shape(model);
  const Value extents = depends_on_batch(target) ? emit("Shape", {model}) : ints(reshape_target(target));
  return emit_shaped("Expand", {value, extents}, {}, {graph_.info(value).type, target});
}

Value GraphBuilder::sum_to_shape(const Value& value, const Shape& to) {
  if (!failure_.empty()) return {};
  const Axes axes = broadcast_axes(shape(value), to);
  return reshape(reduce_sum(value, axes, true), to);
}

Value GraphBuilder::count(const Value& value, const Axes& axes) {
  if (!failure_.empty()) return {};
  Dim total;
  for (const std::int64_t axis : axes) {
    const Dim& dim = shape(value)[static_cast<std::size_t>(axis)];
    total = {total.value * dim.value, total.batch || dim.batch};
  }
  if (!total.batch) return scalar(static_cast<float>(total.value));
  // The extent that depends on the batch, read at run time, times the constant ones.
  const auto axis = static_cast<std::int64_t>(*batch_axis(shape(value)));
  const Value extent = emit("Shape", {value}, {{"start", axis}, {"end", axis + 1}});
  const Value as_float = emit("Cast", {extent}, {{"to", static_cast<std::int64_t>(ElementType::kFloat)}});
  const auto rest = total.value / shape(value)[static_cast<std::size_t>(axis)].value;
  return scaled(reshape(as_float, {}), static_cast<float>(rest));
}

}  // namespace aflguard::models
