#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/graph/graph_builder.h"
#include "models/import/symbolic_ints.h"

namespace aflguard::models {

/// What a name of the imported file stands for.
using Imported = std::variant<Value, SymbolicInts>;

/// What all nodes of an import share.
struct ImportState {
  explicit ImportState(const OperatorSet& operators) : builder(graph, operators) {}
  Graph graph;
  GraphBuilder builder;
  std::map<std::string, Imported> names;
  std::map<Value, Tensor> parameter_values;  ///< of what may become a parameter
  int opset = 0;
  std::optional<std::int64_t> fixed_batch;  ///< the batch size that the file was exported with
  std::vector<std::string> notes;
};

/// One node during an import: what an import rule reads and gives.
class ImportContext final {
 public:
  ImportContext(ImportState& state, const Node& source)
      : g(state.builder), node(source), opset(state.opset), state_(state), given_(source.outputs.size()) {}

  GraphBuilder& g;   ///< where the rule appends nodes
  const Node& node;  ///< as it stands in the file
  const int opset;

  [[nodiscard]] bool has(std::size_t input) const { return !node.input(input).empty(); }
  /// The input as a tensor. Fails (sticking to the builder) for integers that depend on the batch.
  [[nodiscard]] Value input(std::size_t index);
  [[nodiscard]] std::vector<Value> all_inputs();
  [[nodiscard]] const Shape& shape(std::size_t input) { return g.shape(this->input(input)); }
  /// The input as integers known now; kUnsupported when it is computed from the data.
  [[nodiscard]] Result<SymbolicInts> ints(std::size_t index) const;
  /// An operator's setting: attribute in older opsets, input in newer ones; `default_value` when neither is
  /// there.
  [[nodiscard]] Result<std::vector<std::int64_t>> setting(const char* attribute, std::size_t input,
                                                          std::vector<std::int64_t> default_value) const;
  /// Whether the input is an initializer that may be trained.
  [[nodiscard]] bool is_parameter(std::size_t index) {
    return state_.parameter_values.contains(input(index));
  }
  /// The values of an input that is constant or an initializer; nothing for others.
  [[nodiscard]] const Tensor* constant_or_parameter(std::size_t index);
  /// The value of a constant scalar input, if it is one.
  [[nodiscard]] std::optional<float> scalar(std::size_t index);

  [[nodiscard]] std::optional<std::int64_t> fixed_batch() const { return state_.fixed_batch; }
  /// A shape as an int64 tensor at run time, when it depends on the batch.
  [[nodiscard]] Value runtime_shape(const Shape& shape);

  void give(std::size_t output, Value value) { given_[output] = Imported(std::move(value)); }
  void give(std::size_t output, SymbolicInts ints) { given_[output] = Imported(std::move(ints)); }
  [[nodiscard]] const std::vector<std::optional<Imported>>& given() const { return given_; }
  void note(std::string text) { state_.notes.push_back(std::move(text)); }
  [[nodiscard]] Error refuse(const std::string& why) const {
    return unsupported(describe(node) + ": " + why);
  }

 private:
  ImportState& state_;
  std::vector<std::optional<Imported>> given_;
};

using ImportRule = Status (*)(ImportContext&);
using ImportTable = std::map<std::string, ImportRule>;

// Each file of this folder adds the import rules of its operators (ONNX's own domain only).
void add_elementwise_imports(ImportTable& table);
void add_indexing_imports(ImportTable& table);
void add_layer_imports(ImportTable& table);
void add_normalization_imports(ImportTable& table);
void add_pooling_imports(ImportTable& table);
void add_recurrent_imports(ImportTable& table);
void add_reduction_imports(ImportTable& table);
void add_reshaping_imports(ImportTable& table);
void add_resize_imports(ImportTable& table);
void add_structural_imports(ImportTable& table);

/// Padding of a node made explicit: auto_pad resolved against the input's extents.
[[nodiscard]] Result<std::vector<std::int64_t>> explicit_pads(const Node& node, const Shape& input,
                                                              const std::vector<std::int64_t>& kernel);

}  // namespace aflguard::models
