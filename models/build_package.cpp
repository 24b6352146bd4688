#include "models/build_package.h"

#include <algorithm>

#include "models/graph/function_hash.h"
#include "models/input_ids.h"
#include "models/onnx_file/onnx_file.h"
#include "models/scale_input.h"
#include "models/training_graph.h"

namespace aflguard::models {
namespace {

std::vector<std::size_t> sample_shape(const Shape& shape) {
  std::vector<std::size_t> result;
  for (std::size_t i = 1; i < shape.size(); ++i) result.push_back(static_cast<std::size_t>(shape[i].value));
  return result;
}

/// The parameters on which the loss depends. The rest is noted, except what never is one: stored statistics
/// of batch normalisations and settings such as Clip's bounds.
std::vector<ForwardParameter> trained_parameters(const ForwardModel& model, const JointGraph& joint,
                                                 std::vector<std::string>& notes) {
  std::vector<ForwardParameter> trained;
  for (const ForwardParameter& parameter : model.parameters) {
    if (joint.gradients.contains(parameter.value)) {
      trained.push_back(parameter);
    } else if (!model.graph.values.contains(parameter.value)) {
      notes.push_back("initializer '" + parameter.name + "' is not used by the output and was left out");
    }
  }
  return trained;
}

/// What the network computes, without the scaling of its input, which the description says itself.
std::string hash_function(const ForwardModel& model, const std::vector<ForwardParameter>& trained) {
  Graph graph = model.graph;
  std::map<Value, std::string> names;
  for (const ForwardParameter& parameter : model.parameters)
    graph.constants[parameter.value] = parameter.initial;
  for (const ForwardParameter& parameter : trained) {
    graph.constants.erase(parameter.value);
    names[parameter.value] = parameter.name;
  }
  return function_hash(graph, names);
}

ModelDescription describe_model(const ForwardModel& model, const std::vector<ForwardParameter>& parameters,
                                const PackageOptions& options) {
  ModelDescription description = describe_shapes(model, options.loss);
  std::size_t offset = 0;
  for (const ForwardParameter& parameter : parameters) {
    Parameter entry;
    entry.name = parameter.name;
    for (const std::int64_t extent : parameter.initial.shape)
      entry.shape.push_back(static_cast<std::size_t>(extent));
    entry.offset = offset;
    entry.initializer = parameter.initializer;
    entry.bound = parameter.bound;
    offset += entry.size();
    description.parameters.push_back(std::move(entry));
  }
  description.opset = kGraphOpset;
  description.class_names = options.class_names;
  description.scaling = options.scaling;
  description.function = hash_function(model, parameters);
  description.hash = layout_hash(description);
  return description;
}

/// Stored first values of all parameters, if the model brings any.
std::vector<float> stored_values(const std::vector<ForwardParameter>& parameters) {
  const bool any = std::ranges::any_of(
      parameters, [](const ForwardParameter& p) { return p.initializer == Initializer::kStored; });
  std::vector<float> values;
  for (const ForwardParameter& parameter : parameters) {
    if (!any) break;
    const auto own = parameter.initial.values<float>();
    values.insert(values.end(), own.begin(), own.end());
  }
  return values;
}

Result<std::string> training_file(JointGraph joint, const ForwardModel& model,
                                  const std::vector<ForwardParameter>& parameters, const Flavor& flavor,
                                  ParameterForm form) {
  for (const ForwardParameter& parameter : model.parameters) {
    const auto& values = joint.graph.values;
    if (!joint.gradients.contains(parameter.value) && values.contains(parameter.value)) {
      joint.graph.constants[parameter.value] = parameter.initial;
    }
  }
  TRY(const Graph graph, make_training_graph(std::move(joint), parameters, flavor.operators, form));
  return write_onnx(graph, "train");
}

}  // namespace

ModelDescription describe_shapes(const ForwardModel& model, Loss loss) {
  ModelDescription description;
  description.name = model.name;
  description.input_shape = sample_shape(model.graph.shape(model.graph.inputs.front()));
  description.output_shape = sample_shape(model.graph.shape(model.graph.outputs.front()));
  description.loss = loss;
  if (model.graph.info(model.graph.inputs.front()).type == ElementType::kInt64) {
    description.input_type = InputType::kInt64;
    description.input_ids = input_ids(model.graph);
  }
  return description;
}

Result<BuiltPackage> build_package(const ForwardModel& given, const PackageOptions& options) {
  BuiltPackage built;
  built.notes = given.notes;
  const Flavor standard = flavor_of(OpsFlavor::kStandard);
  ForwardModel model = given;
  TRY_STATUS(scale_input(model, standard.operators, options.scaling));
  TRY(JointGraph joint, make_joint_graph(model, standard, options.loss));
  const auto parameters = trained_parameters(model, joint, built.notes);
  if (parameters.empty()) {
    return invalid_input("the model has no parameters: no float32 initializer reaches its output");
  }
  ModelPackage& package = built.package;
  package.description = describe_model(given, parameters, options);
  TRY_STATUS(check_names_and_scaling(package.description));
  package.initial = stored_values(parameters);
  TRY(package.train_graph,
      training_file(std::move(joint), model, parameters, standard, ParameterForm::kFlat));
  TRY(const Graph evaluation, make_evaluation_graph(model, parameters, standard, options.evaluation));
  TRY(package.eval_graph, write_onnx(evaluation, "eval"));
  TRY(const auto inference, make_inference_graph(model, parameters, standard, options.evaluation));
  TRY(package.inference_graph, write_onnx(inference.graph, "inference"));
  package.description.statistics = inference.statistics;
  if (options.ops == OpsFlavor::kFused) {
    const Flavor fused = flavor_of(OpsFlavor::kFused);
    TRY(JointGraph fused_joint, make_joint_graph(model, fused, options.loss));
    TRY(package.fused_train_graph,
        training_file(std::move(fused_joint), model, parameters, fused, ParameterForm::kSeparate));
  }
  return built;
}

}  // namespace aflguard::models
