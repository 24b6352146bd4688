#include <limits>
#include <onnx/onnx_pb.h>
#include <set>

#include "core/system/atomic_file.h"
#include "models/onnx_file/onnx_file.h"

namespace aflguard::models {
namespace {

constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 31;  // protobuf's own limit

Result<std::size_t> element_count(const onnx::TensorProto& proto, std::size_t width) {
  std::uint64_t count = 1;
  for (const std::int64_t extent : proto.dims()) {
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count) ||
        count > kMaxFile / width) {
      return corrupt("tensor '" + proto.name() + "' has an impossible shape");
    }
  }
  return static_cast<std::size_t>(count);
}

/// Copies the elements of a typed protobuf field, which may be wider than the tensor's type.
template <typename T, typename Field>
void copy_field(const Field& field, std::vector<std::byte>& data) {
  data.resize(static_cast<std::size_t>(field.size()) * sizeof(T));
  for (int i = 0; i < field.size(); ++i) {
    const T value = static_cast<T>(field[i]);
    std::memcpy(data.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
}

Result<Tensor> read_tensor(const onnx::TensorProto& proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0) {
    return unsupported("tensor '" + proto.name() +
                       "' is stored in another file; save the model with its weights inside");
  }
  Tensor tensor;
  tensor.type = static_cast<ElementType>(proto.data_type());
  const std::size_t width = element_size(tensor.type);
  if (width == 0) {
    return unsupported("tensor '" + proto.name() + "' has " + element_type_name(tensor.type) +
                       " elements; models are trained in float32");
  }
  TRY(const std::size_t count, element_count(proto, width));
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  if (proto.has_raw_data()) {
    const auto bytes = std::as_bytes(std::span(proto.raw_data()));
    tensor.data.assign(bytes.begin(), bytes.end());
  } else if (tensor.type == ElementType::kFloat) {
    copy_field<float>(proto.float_data(), tensor.data);
  } else if (tensor.type == ElementType::kInt64) {
    copy_field<std::int64_t>(proto.int64_data(), tensor.data);
  } else if (tensor.type == ElementType::kDouble) {
    copy_field<double>(proto.double_data(), tensor.data);
  } else if (tensor.type == ElementType::kInt32) {
    copy_field<std::int32_t>(proto.int32_data(), tensor.data);
  } else if (tensor.type == ElementType::kFloat16) {
    copy_field<std::uint16_t>(proto.int32_data(), tensor.data);
  } else {
    copy_field<std::uint8_t>(proto.int32_data(), tensor.data);
  }
  if (tensor.data.size() != count * width) {
    return corrupt("tensor '" + proto.name() + "' has " + std::to_string(tensor.data.size()) +
                   " bytes of data, its shape needs " + std::to_string(count * width));
  }
  return tensor;
}

/// Kinds that no supported operator has (graphs) are left out: their operators are refused by name.
Status read_attribute(const onnx::AttributeProto& proto, Attributes& attributes) {
  using Type = onnx::AttributeProto;
  Attribute& value = attributes[proto.name()];
  switch (proto.type()) {
    case Type::INT:
      value = static_cast<std::int64_t>(proto.i());
      break;
    case Type::FLOAT:
      value = proto.f();
      break;
    case Type::STRING:
      value = proto.s();
      break;
    case Type::INTS:
      value = std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
      break;
    case Type::FLOATS:
      value = std::vector<float>(proto.floats().begin(), proto.floats().end());
      break;
    case Type::STRINGS:
      value = std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      break;
    case Type::TENSOR: {
      TRY(value, read_tensor(proto.t()));
      break;
    }
    default:
      attributes.erase(proto.name());
  }
  return {};
}

Result<Node> read_node(const onnx::NodeProto& proto) {
  Node node;
  node.op = {proto.domain() == "ai.onnx" ? "" : proto.domain(), proto.op_type()};
  node.name = proto.name();
  node.inputs.assign(proto.input().begin(), proto.input().end());
  node.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& attribute : proto.attribute()) {
    if (auto status = read_attribute(attribute, node.attributes); !status.ok())
      return at(describe(node), status.error());
  }
  return node;
}

OnnxInput read_input(const onnx::ValueInfoProto& proto) {
  OnnxInput input;
  input.name = proto.name();
  const auto& type = proto.type().tensor_type();
  input.type = static_cast<ElementType>(type.elem_type());
  input.has_shape = type.has_shape();
  for (const auto& dim : type.shape().dim()) {
    OnnxDim extent;
    if (dim.has_dim_value()) extent.value = dim.dim_value();
    extent.name = dim.dim_param();
    input.dims.push_back(std::move(extent));
  }
  return input;
}

Result<int> read_opset(const onnx::ModelProto& proto) {
  for (const auto& import : proto.opset_import()) {
    if (!import.domain().empty() && import.domain() != "ai.onnx") continue;
    if (import.version() < 1 || import.version() > std::numeric_limits<int>::max()) break;
    return static_cast<int>(import.version());
  }
  return corrupt("the model does not say which ONNX operator set it uses");
}

Result<OnnxModel> read_model(const onnx::ModelProto& proto) {
  if (!proto.has_graph() || proto.graph().node_size() == 0)
    return corrupt("this is not an ONNX model with a graph");
  if (proto.functions_size() > 0) {
    return unsupported("the model defines the function '" + proto.functions(0).name() +
                       "'; export it with functions expanded");
  }
  const onnx::GraphProto& graph = proto.graph();
  if (graph.sparse_initializer_size() > 0)
    return unsupported("the model has sparse weights; store them densely");
  OnnxModel model;
  TRY(model.opset, read_opset(proto));
  std::set<std::string> initialized;
  for (const auto& initializer : graph.initializer()) {
    TRY(auto tensor, read_tensor(initializer));
    model.initializers.push_back({initializer.name(), std::move(tensor)});
    initialized.insert(initializer.name());
  }
  for (const auto& input : graph.input()) {
    if (!initialized.contains(input.name())) model.inputs.push_back(read_input(input));
  }
  for (const auto& output : graph.output()) model.outputs.push_back(output.name());
  for (const auto& node_proto : graph.node()) {
    TRY(auto node, read_node(node_proto));
    model.nodes.push_back(std::move(node));
  }
  return model;
}

}  // namespace

Result<OnnxModel> parse_onnx(const std::string& bytes) {
  google::protobuf::SetLogHandler(nullptr);  // a broken file is our error to report, not a library's log line
  onnx::ModelProto proto;
  if (bytes.size() > kMaxFile || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return corrupt("this is not an ONNX file, or it is damaged");
  }
  return read_model(proto);
}

Result<OnnxModel> read_onnx(const std::filesystem::path& path) {
  TRY(const auto bytes, read_text_file(path, kMaxFile));
  auto model = parse_onnx(bytes);
  if (!model.ok()) return at(path.string(), model.error());
  return model;
}

}  // namespace aflguard::models
