#include <algorithm>
#include <onnx/checker.h>
#undef fail_check  // a macro of the checker with the name of a function of ours
#include <onnx/onnx_pb.h>
#include <set>

#include "models/onnx_file/onnx_file.h"

namespace aflguard::models {
namespace {

/// ONNX Runtime loses track of the batch in reshaped values, keeps buffers that it cannot compare, and looks
/// through all of them for every node: the gradient of an LSTM with 256 steps took 4 s to load, and 0.7 s
/// with its shapes.
constexpr std::size_t kManyNodes = 1000;

constexpr int kIrVersion = 8;  // of ONNX 1.10 to 1.12: every ONNX Runtime from 1.21 on reads it

void write_tensor(const Tensor& tensor, onnx::TensorProto& proto) {
  proto.set_data_type(static_cast<int>(tensor.type));
  for (const std::int64_t extent : tensor.shape) proto.add_dims(extent);
  proto.set_raw_data(tensor.data.data(), tensor.data.size());
}

void write_attribute(const std::string& name, const Attribute& attribute, onnx::AttributeProto& proto) {
  proto.set_name(name);
  if (const auto* number = std::get_if<std::int64_t>(&attribute)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*number);
  } else if (const auto* real = std::get_if<float>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*real);
  } else if (const auto* string = std::get_if<std::string>(&attribute)) {
    proto.set_type(onnx::AttributeProto::STRING);
    proto.set_s(*string);
  } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : *numbers) proto.add_ints(value);
  } else if (const auto* reals = std::get_if<std::vector<float>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::FLOATS);
    for (const float value : *reals) proto.add_floats(value);
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&attribute)) {
    proto.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& value : *strings) proto.add_strings(value);
  } else {
    proto.set_type(onnx::AttributeProto::TENSOR);
    write_tensor(std::get<Tensor>(attribute), *proto.mutable_t());
  }
}

void write_node(const Node& node, onnx::NodeProto& proto) {
  proto.set_op_type(node.op.op_type);
  proto.set_domain(node.op.domain);
  // Where the node comes from, made unique: viewers and the runtime's profile show it.
  if (!node.name.empty()) proto.set_name(node.name + "/" + node.outputs.front());
  for (const Value& input : node.inputs) proto.add_input(input);
  for (const Value& output : node.outputs) proto.add_output(output);
  for (const auto& [name, attribute] : node.attributes)
    write_attribute(name, attribute, *proto.add_attribute());
}

void write_info(const Value& value, const ValueInfo& info, onnx::ValueInfoProto& proto) {
  proto.set_name(value);
  auto* type = proto.mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int>(info.type));
  type->mutable_shape();
  for (const Dim& dim : info.shape) {
    auto* extent = type->mutable_shape()->add_dim();
    if (dim.batch) {
      extent->set_dim_param(text(dim));
    } else {
      extent->set_dim_value(dim.value);
    }
  }
}

/// The shapes of what a node makes.
void write_infos(const Node& node, const Graph& graph, onnx::GraphProto& proto) {
  for (const Value& output : node.outputs) {
    if (!output.empty() && std::ranges::find(graph.outputs, output) == graph.outputs.end())
      write_info(output, graph.info(output), *proto.add_value_info());
  }
}

onnx::ModelProto to_proto(const Graph& graph, const std::string& name) {
  onnx::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("aflguard");
  auto* standard = model.add_opset_import();
  standard->set_domain("");
  standard->set_version(kGraphOpset);
  std::set<std::string> domains;
  onnx::GraphProto& proto = *model.mutable_graph();
  proto.set_name(name);
  for (const Value& input : graph.inputs) write_info(input, graph.info(input), *proto.add_input());
  for (const Value& output : graph.outputs) write_info(output, graph.info(output), *proto.add_output());
  for (const auto& [value, tensor] : graph.constants) {
    onnx::TensorProto& initializer = *proto.add_initializer();
    initializer.set_name(value);
    write_tensor(tensor, initializer);
  }
  for (const Node& node : graph.nodes) {
    write_node(node, *proto.add_node());
    if (graph.nodes.size() >= kManyNodes) write_infos(node, graph, proto);
    if (!node.op.domain.empty() && domains.insert(node.op.domain).second) {
      auto* import = model.add_opset_import();
      import->set_domain(node.op.domain);
      import->set_version(1);
    }
  }
  return model;
}

}  // namespace

Result<std::string> write_onnx(const Graph& graph, const std::string& name) {
  const onnx::ModelProto model = to_proto(graph, name);
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception& problem) {
    return internal_error("the graph '" + name + "' that was built is not valid ONNX: " + problem.what());
  }
  std::string bytes;
  if (!model.SerializeToString(&bytes))
    return internal_error("the graph '" + name + "' could not be written");
  return bytes;
}

}  // namespace aflguard::models
