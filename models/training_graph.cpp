#include "models/training_graph.h"

#include <algorithm>
#include <iterator>

#include "models/differentiate.h"
#include "models/losses.h"

namespace aflguard::models {
namespace {

constexpr const char* kTheta = "theta";

Dim size_of(const ForwardParameter& parameter) {
  return {static_cast<std::int64_t>(parameter.initial.size()), false};
}

/// A value that nothing makes yet, and its place in a flat input.
struct Part {
  Value value;
  std::vector<std::int64_t> shape;
};

std::vector<Part> parts_of(const std::vector<ForwardParameter>& parameters) {
  std::vector<Part> parts;
  for (const ForwardParameter& parameter : parameters)
    parts.push_back({parameter.value, parameter.initial.shape});
  return parts;
}

/// Means and variances, one after the other.
std::vector<Part> parts_of(const Graph& graph, const std::vector<NormMoments>& moments) {
  std::vector<Part> parts;
  for (const auto& [mean, variance] : moments) {
    for (const Value& value : {mean, variance}) parts.push_back({value, {graph.shape(value)[0].value}});
  }
  return parts;
}

/// Makes `flat` an input and the parts slices of it, one after the other. What reads a part stays as it is.
Status take_from_flat_input(Graph& graph, const Value& flat, const std::string& origin,
                            const std::vector<Part>& parts, const OperatorSet& operators) {
  std::vector<Node> rest = std::move(graph.nodes);
  graph.nodes.clear();
  GraphBuilder builder(graph, operators);
  builder.set_origin(origin);
  std::vector<std::int64_t> sizes;
  std::int64_t dimension = 0;
  for (const Part& part : parts) {
    std::int64_t size = 1;
    for (const std::int64_t extent : part.shape) size *= extent;
    sizes.push_back(size);
    dimension += size;
  }
  graph.values[flat] = {ElementType::kFloat, {{dimension, false}}};
  graph.inputs.insert(graph.inputs.begin(), flat);
  const auto slices = parts.size() == 1
                          ? std::vector<Value>{flat}
                          : builder.emit_many({"", "Split"}, {flat, builder.ints(sizes)}, {}, sizes.size());
  TRY_STATUS(builder.status());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Value shaped = builder.reshape(slices[i], constant_shape(parts[i].shape));
    for (Node& node : rest) std::ranges::replace(node.inputs, parts[i].value, shaped);
    std::ranges::replace(graph.outputs, parts[i].value, shaped);
    graph.values.erase(parts[i].value);
  }
  graph.nodes.insert(graph.nodes.end(), std::make_move_iterator(rest.begin()),
                     std::make_move_iterator(rest.end()));
  return builder.status();
}

Status take_parameters_from_theta(Graph& graph, const std::vector<ForwardParameter>& parameters,
                                  const OperatorSet& operators) {
  return take_from_flat_input(graph, kTheta, kSplitNode, parts_of(parameters), operators);
}

/// Parameters that are not trained keep the values that the imported file gave them.
void keep_others_as_constants(Graph& graph, const ForwardModel& model,
                              const std::vector<ForwardParameter>& trained) {
  for (const ForwardParameter& parameter : model.parameters) {
    const bool is_trained = std::ranges::any_of(
        trained, [&](const ForwardParameter& other) { return other.value == parameter.value; });
    if (!is_trained && graph.values.contains(parameter.value))
      graph.constants[parameter.value] = parameter.initial;
  }
}

/// Gives an output its final name, with a node where the value is an input or has a second role.
void name_output(GraphBuilder& builder, std::size_t index, const Value& name) {
  Graph& graph = builder.graph();
  const Value current = graph.outputs[index];
  const bool made_by_node = std::ranges::any_of(graph.nodes, [&](const Node& node) {
    return std::ranges::find(node.outputs, current) != node.outputs.end();
  });
  const bool unique = std::ranges::count(graph.outputs, current) == 1;
  if (made_by_node && unique) {
    rename_value(graph, current, name);
    return;
  }
  graph.outputs[index] = builder.emit("Identity", {current});
  rename_value(graph, graph.outputs[index], name);
}

Status tidy(Graph& graph, const OperatorSet& operators) {
  remove_dead_nodes(graph);
  TRY_STATUS(share_equal_nodes(graph, operators));
  remove_dead_nodes(graph);
  return {};
}

}  // namespace

Result<JointGraph> make_joint_graph(const ForwardModel& model, const Flavor& flavor, Loss loss) {
  JointGraph joint{model.graph, {}};
  for (const GraphPass pass : flavor.forward_passes) TRY_STATUS(pass(joint.graph, flavor.operators));
  const Value output = joint.graph.outputs.front();
  TRY(const ValueInfo target, target_info(joint.graph.shape(output), loss));
  joint.graph.inputs.push_back("y");
  joint.graph.values["y"] = target;
  GraphBuilder builder(joint.graph, flavor.operators);
  TRY(const AppendedLoss appended, append_loss(builder, output, "y", loss));
  // The loss's own nodes are behind `scores`: the backward walk never enters them.
  std::vector<Value> parameters;
  for (const ForwardParameter& parameter : model.parameters) parameters.push_back(parameter.value);
  TRY(joint.gradients, differentiate(builder, appended.scores, appended.gradient, parameters));
  joint.graph.outputs = {appended.loss};
  return joint;
}

namespace {

Result<Graph> make_flat_training_graph(Graph graph, const std::vector<Value>& gradients,
                                       const std::vector<ForwardParameter>& parameters,
                                       const OperatorSet& operators) {
  {
    GraphBuilder builder(graph, operators);
    builder.set_origin(kJoinNode);
    std::vector<Value> flat;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      flat.push_back(builder.reshape(gradients[i], {size_of(parameters[i])}));
    }
    graph.outputs.push_back(builder.concat(std::move(flat), 0));
    TRY_STATUS(builder.status());
  }
  TRY(const auto moments, lower_batch_norm(graph, operators, NormStatistics::kBatch));
  (void)moments;
  TRY_STATUS(take_parameters_from_theta(graph, parameters, operators));
  TRY_STATUS(tidy(graph, operators));
  GraphBuilder builder(graph, operators);
  name_output(builder, 0, "loss");
  name_output(builder, 1, "gradient");
  TRY_STATUS(builder.status());
  return graph;
}

Result<Graph> make_separate_training_graph(Graph graph, const std::vector<Value>& gradients,
                                           const std::vector<ForwardParameter>& parameters,
                                           const OperatorSet& operators) {
  std::vector<Value> inputs;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    graph.outputs.push_back(gradients[i]);
    inputs.push_back(parameters[i].value);
  }
  graph.inputs.insert(graph.inputs.begin(), inputs.begin(), inputs.end());
  TRY(const auto moments, lower_batch_norm(graph, operators, NormStatistics::kBatch));
  (void)moments;
  TRY_STATUS(tidy(graph, operators));
  GraphBuilder builder(graph, operators);
  name_output(builder, 0, "loss");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    name_output(builder, i + 1, "gradient/" + parameters[i].name);
    rename_value(graph, parameters[i].value, "theta/" + parameters[i].name);
  }
  TRY_STATUS(builder.status());
  return graph;
}

}  // namespace

Result<Graph> make_training_graph(JointGraph joint, const std::vector<ForwardParameter>& parameters,
                                  const OperatorSet& operators, ParameterForm form) {
  std::vector<Value> gradients;
  for (const ForwardParameter& parameter : parameters)
    gradients.push_back(joint.gradients.at(parameter.value));
  return form == ParameterForm::kFlat
             ? make_flat_training_graph(std::move(joint.graph), gradients, parameters, operators)
             : make_separate_training_graph(std::move(joint.graph), gradients, parameters, operators);
}

namespace {

/// The forward graph with batch normalisation as ordinary operators; what it normalises with.
Result<std::vector<NormMoments>> make_forward_graph(Graph& graph, const ForwardModel& model,
                                                    const std::vector<ForwardParameter>& parameters,
                                                    const Flavor& flavor, NormStatistics statistics) {
  graph = model.graph;
  keep_others_as_constants(graph, model, parameters);
  for (const GraphPass pass : flavor.forward_passes) TRY_STATUS(pass(graph, flavor.operators));
  return lower_batch_norm(graph, flavor.operators, statistics);
}

/// Its own name where nothing else in the graph has it.
Value free_name(const Graph& graph, Value name) {
  while (graph.values.contains(name)) name += '_';
  return name;
}

}  // namespace

Result<Graph> make_evaluation_graph(const ForwardModel& model,
                                    const std::vector<ForwardParameter>& parameters, const Flavor& flavor,
                                    NormStatistics statistics) {
  Graph graph;
  TRY(const auto moments, make_forward_graph(graph, model, parameters, flavor, statistics));
  const bool measure = statistics == NormStatistics::kBatch && !moments.empty();
  if (measure) {
    GraphBuilder builder(graph, flavor.operators);
    builder.set_origin("statistics_join");
    std::vector<Value> flat;
    for (const auto& [mean, variance] : moments) flat.insert(flat.end(), {mean, variance});
    graph.outputs.push_back(builder.concat(std::move(flat), 0));
    TRY_STATUS(builder.status());
  }
  TRY_STATUS(take_parameters_from_theta(graph, parameters, flavor.operators));
  TRY_STATUS(tidy(graph, flavor.operators));
  GraphBuilder builder(graph, flavor.operators);
  name_output(builder, 0, "logits");
  if (measure) name_output(builder, 1, kStatistics);
  TRY_STATUS(builder.status());
  return graph;
}

Result<InferenceGraph> make_inference_graph(const ForwardModel& model,
                                            const std::vector<ForwardParameter>& parameters,
                                            const Flavor& flavor, NormStatistics statistics) {
  InferenceGraph result;
  Graph& graph = result.graph;
  const auto given = statistics == NormStatistics::kBatch ? NormStatistics::kGiven : statistics;
  TRY(const auto moments, make_forward_graph(graph, model, parameters, flavor, given));
  if (given == NormStatistics::kGiven && !moments.empty()) {
    const auto parts = parts_of(graph, moments);
    for (const Part& part : parts) result.statistics += static_cast<std::size_t>(part.shape.front());
    TRY_STATUS(take_from_flat_input(graph, kStatistics, "statistics_split", parts, flavor.operators));
  }
  std::vector<Value> inputs;
  for (const ForwardParameter& parameter : parameters) inputs.push_back(parameter.value);
  graph.inputs.insert(graph.inputs.begin(), inputs.begin(), inputs.end());
  TRY_STATUS(tidy(graph, flavor.operators));
  GraphBuilder builder(graph, flavor.operators);
  name_output(builder, 0, "logits");
  TRY_STATUS(builder.status());
  for (const ForwardParameter& parameter : parameters) {
    rename_value(graph, parameter.value, free_name(graph, parameter.name));
  }
  return result;
}

}  // namespace aflguard::models
