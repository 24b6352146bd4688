#include "models/import/import_model.h"

#include <algorithm>
#include <set>

#include "models/import/import_context.h"

namespace aflguard::models {
namespace {

constexpr int kOldestOpset = 7;
constexpr int kNewestOpset = 22;

ImportTable import_table() {
  ImportTable table;
  add_elementwise_imports(table);
  add_indexing_imports(table);
  add_layer_imports(table);
  add_normalization_imports(table);
  add_pooling_imports(table);
  add_recurrent_imports(table);
  add_reduction_imports(table);
  add_reshaping_imports(table);
  add_resize_imports(table);
  add_structural_imports(table);
  return table;
}

std::string listed(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "'" : ", '") + name + "'";
  return result;
}

class Import final {
 public:
  Import(const OnnxModel& model, const OperatorSet& operators, const ImportOptions& options)
      : model_(model), options_(options), state_(operators) {}

  Result<ForwardModel> run() {
    if (model_.opset < kOldestOpset || model_.opset > kNewestOpset) {
      return unsupported("the model uses ONNX operator set " + std::to_string(model_.opset) +
                         "; supported are " + std::to_string(kOldestOpset) + " to " +
                         std::to_string(kNewestOpset));
    }
    state_.opset = model_.opset;
    TRY_STATUS(add_input());
    find_constant_weights();
    TRY_STATUS(add_initializers());
    for (const Node& node : model_.nodes) TRY_STATUS(add_node(node));
    TRY_STATUS(set_output());
    return finish();
  }

 private:
  Status add_input() {
    if (model_.inputs.size() != 1) {
      std::vector<std::string> names;
      for (const OnnxInput& input : model_.inputs) names.push_back(input.name);
      return unsupported("the model has " + std::to_string(names.size()) + " inputs (" + listed(names) +
                         "); models with exactly one input can be trained");
    }
    const OnnxInput& input = model_.inputs.front();
    const std::string what = "input '" + input.name + "'";
    const bool ids = input.type == ElementType::kInt64 || input.type == ElementType::kInt32;
    if (input.type != ElementType::kFloat && !ids) {
      return unsupported(what + " is " + element_type_name(input.type) +
                         "; the input must be float32, or int64 for ids that an embedding looks up");
    }
    if (!input.has_shape || input.dims.empty())
      return unsupported(what + " has no shape; export it with [batch, ...]");
    Shape shape{kBatchDim};
    for (std::size_t i = 1; i < input.dims.size(); ++i) {
      const OnnxDim& dim = input.dims[i];
      if (!dim.value || *dim.value < 1) {
        const std::string name = dim.name.empty() ? "" : " ('" + dim.name + "')";
        return unsupported(what + ": dimension " + std::to_string(i) + name +
                           " is dynamic; only the batch (dimension 0) may be: export it with a fixed size");
      }
      shape.push_back({*dim.value, false});
    }
    if (auto fits = check_extents(shape); !fits.ok()) return at(what, fits.error());
    if (input.dims.front().value && *input.dims.front().value >= 1)
      state_.fixed_batch = *input.dims.front().value;
    state_.graph.inputs = {kInputName};
    state_.graph.values[kInputName] = {ids ? ElementType::kInt64 : ElementType::kFloat, shape};
    // Packages take int64 only; what the file does with int32 stays as it is.
    const Attributes narrow{{"to", static_cast<std::int64_t>(ElementType::kInt32)}};
    state_.names[input.name] = input.type == ElementType::kInt32
                                   ? state_.builder.emit("Cast", {kInputName}, narrow)
                                   : Value(kInputName);
    return state_.builder.status();
  }

  void offer_parameter(const std::string& name, const Tensor& tensor) {
    const Value value = "parameter/" + name;
    state_.graph.values[value] = {ElementType::kFloat, constant_shape(tensor.shape)};
    state_.parameter_values[value] = tensor;
    state_.names[name] = value;
    parameters_.push_back({name, value, tensor, Initializer::kStored, 0});
  }

  Status add_initializers() {
    std::set<std::string> frozen(options_.frozen.begin(), options_.frozen.end());
    for (const auto& [name, tensor] : model_.initializers) {
      if (state_.names.contains(name)) return corrupt("the name '" + name + "' has two values");
      const bool freeze = frozen.erase(name) > 0;
      if (auto ints = symbolic_ints(tensor)) {
        state_.names[name] = std::move(*ints);
      } else if (tensor.type != ElementType::kFloat) {
        return unsupported("initializer '" + name + "' is " + element_type_name(tensor.type) +
                           "; convert the model to float32");
      } else if (freeze || tensor.size() == 0) {
        state_.names[name] = state_.builder.constant(tensor);
      } else {
        offer_parameter(name, tensor);
      }
    }
    std::erase_if(frozen, [&](const std::string& name) { return constants_.contains(name); });
    if (!frozen.empty())
      return invalid_input("the model has no initializer '" + *frozen.begin() + "' to freeze");
    return {};
  }

  /// Some exporters write weights as Constant nodes. Those that are read as weights or biases of layers are
  /// parameters, like initializers, and so is what is added to a layer with such weights; other constants
  /// stay constants.
  void find_constant_weights() {
    static const std::map<std::string, std::size_t> known_layers{
        {"Conv", 3}, {"ConvTranspose", 3}, {"Gemm", 3}, {"MatMul", 2}, {"BatchNormalization", 3}};
    std::set<std::string> layers;  // results of layers whose weights are constants
    for (const Node& node : model_.nodes) {
      if (node.outputs.empty()) continue;
      if (node.op.op_type == "Constant") constants_.insert(node.outputs.front());
      if (node.op.op_type == "Add") {
        if (layers.contains(node.input(0))) weights_.insert(node.input(1));
        if (layers.contains(node.input(1))) weights_.insert(node.input(0));
      }
      const auto layer = known_layers.find(node.op.op_type);
      if (layer == known_layers.end()) continue;
      for (std::size_t i = 1; i < layer->second; ++i) weights_.insert(node.input(i));
      if (constants_.contains(node.input(1))) layers.insert(node.outputs.front());
    }
  }

  [[nodiscard]] bool is_constant_weight(const Node& node) const {
    if (node.op.op_type != "Constant" || node.outputs.size() != 1 || !weights_.contains(node.outputs.front()))
      return false;
    const auto found = node.attributes.find("value");
    const auto* tensor = found == node.attributes.end() ? nullptr : std::get_if<Tensor>(&found->second);
    const auto frozen = std::ranges::find(options_.frozen, node.outputs.front()) != options_.frozen.end();
    return tensor && !frozen && tensor->type == ElementType::kFloat && !tensor->shape.empty();
  }

  /// All inputs known as integers: shape arithmetic, evaluated now.
  Result<bool> fold(const Node& node) {
    std::vector<SymbolicInts> inputs;
    for (const std::string& name : node.inputs) {
      if (name.empty()) continue;
      const auto found = state_.names.find(name);
      if (found == state_.names.end() || !std::holds_alternative<SymbolicInts>(found->second)) return false;
      inputs.push_back(std::get<SymbolicInts>(found->second));
    }
    auto folded = fold_ints(node, inputs);
    if (!folded.ok()) return at(describe(node), folded.error());
    if (!folded->has_value()) return false;
    state_.names[node.outputs.front()] = std::move(**folded);
    return true;
  }

  Status add_node(const Node& node) {
    if (node.outputs.empty()) return corrupt(describe(node) + " has no output");
    for (const std::string& output : node.outputs) {
      if (!output.empty() && state_.names.contains(output)) return corrupt("'" + output + "' is made twice");
    }
    if (is_constant_weight(node)) {
      offer_parameter(node.outputs.front(), std::get<Tensor>(node.attributes.at("value")));
      return {};
    }
    TRY(const bool folded, fold(node));
    if (folded) return {};
    const auto rule = node.op.domain.empty() ? table_.find(node.op.op_type) : table_.end();
    if (rule == table_.end()) {
      return unsupported(describe(node) +
                         ": this operator is not supported; docs/models.md lists those that are");
    }
    state_.builder.set_origin(node.name.empty() ? node.outputs.front() : node.name);
    ImportContext context(state_, node);
    TRY_STATUS(rule->second(context));
    TRY_STATUS(state_.builder.status());
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty() && context.given()[i]) state_.names[node.outputs[i]] = *context.given()[i];
    }
    return {};
  }

  Status set_output() {
    std::string name = options_.output;
    if (name.empty() && model_.outputs.size() == 1) name = model_.outputs.front();
    if (name.empty()) {
      return unsupported("the model has " + std::to_string(model_.outputs.size()) + " outputs (" +
                         listed(model_.outputs) + "); choose one with --output");
    }
    const auto found = state_.names.find(name);
    if (std::ranges::find(model_.outputs, name) == model_.outputs.end() || found == state_.names.end()) {
      return invalid_input("the model has no output '" + name + "'; it has " + listed(model_.outputs));
    }
    const auto* value = std::get_if<Value>(&found->second);
    if (!value || state_.graph.info(*value).type != ElementType::kFloat) {
      return unsupported("the output '" + name + "' is not float32");
    }
    state_.graph.outputs = {*value};
    return {};
  }

  Result<ForwardModel> finish() {
    ForwardModel result;
    result.graph = std::move(state_.graph);
    result.parameters = std::move(parameters_);
    result.notes = std::move(state_.notes);
    remove_dead_nodes(result.graph);
    return result;
  }

  const OnnxModel& model_;
  const ImportOptions& options_;
  const ImportTable table_ = import_table();
  ImportState state_;
  std::vector<ForwardParameter> parameters_;
  std::set<std::string> weights_;    ///< what layers read as weights and biases
  std::set<std::string> constants_;  ///< made by Constant nodes
};

}  // namespace

Result<ForwardModel> import_model(const OnnxModel& model, const OperatorSet& operators,
                                  const ImportOptions& options) {
  return Import(model, operators, options).run();
}

}  // namespace aflguard::models
