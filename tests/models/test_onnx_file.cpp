#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include "core/system/atomic_file.h"
#include "models/onnx_file/onnx_file.h"
#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

/// A small model as a file's message, to be spoiled.
onnx::ModelProto small_model() {
  onnx::ModelProto model;
  model.set_ir_version(7);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("small");
  for (const char* name : {"x", "w"}) {
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(name);
    auto* type = input.mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_value(2);
    type->mutable_shape()->add_dim()->set_dim_value(2);
  }
  onnx::TensorProto& weight = *graph.add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(2);
  weight.add_dims(2);
  for (const float value : {1.0F, 2.0F, 3.0F, 4.0F}) weight.add_float_data(value);
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("MatMul");
  node.set_name("product");
  node.add_input("x");
  node.add_input("w");
  node.add_output("out");
  graph.add_output()->set_name("out");
  return model;
}

void add_attribute(onnx::NodeProto& node, const std::string& name, const Attribute& value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(*number);
  } else if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t n : *numbers) attribute.add_ints(n);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(*text);
  }
}

/// A file with most kinds of settings that an import computes with.
onnx::ModelProto rich_model() {
  FileBuilder file({2, 6, 6});
  const std::vector<std::int64_t> two{2, 2};
  file.weight("c", {2, 1, 3, 3}).ints("flat", {0, -1}).ints("start", {1}).ints("end", {30}).ints("axis", {1});
  file.ints("step", {3}).ints("pads", {0, 1, 0, 2}).ints("sizes", {4, 4}).weight("w", {4, 3});
  file.node("Conv", {"x", "c"}, "h", {{"group", std::int64_t{2}}, {"auto_pad", std::string("SAME_UPPER")}});
  file.node("MaxPool", {"h"}, "m", {{"kernel_shape", two}, {"strides", two}, {"ceil_mode", std::int64_t{1}}});
  file.node("AveragePool", {"m"}, "a",
            {{"kernel_shape", two}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  file.node("Reshape", {"a", "flat"}, "f").node("Slice", {"f", "start", "end", "axis", "step"}, "s");
  file.node("Pad", {"s", "pads"}, "p").ints("short", {0}).ints("long", {8});
  file.node("Slice", {"p", "short", "long", "axis"}, "q");
  file.model.nodes.push_back(
      {{"", "Split"}, {"q", "sizes"}, {"l", "r"}, {{"axis", std::int64_t{1}}}, "halves"});
  file.node("Mul", {"l", "r"}, "g").node("Gemm", {"g", "w"}, "out", {{"transB", std::int64_t{0}}});
  onnx::ModelProto model = small_model();
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.clear_node();
  graph.clear_initializer();
  graph.mutable_input()->RemoveLast();
  auto* shape = graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->clear_dim();
  for (const std::int64_t extent : {8, 2, 6, 6}) shape->add_dim()->set_dim_value(extent);
  for (const auto& [name, tensor] : file.model.initializers) {
    onnx::TensorProto& initializer = *graph.add_initializer();
    initializer.set_name(name);
    initializer.set_data_type(static_cast<int>(tensor.type));
    for (const std::int64_t extent : tensor.shape) initializer.add_dims(extent);
    initializer.set_raw_data(tensor.data.data(), tensor.data.size());
  }
  for (const Node& node : file.model.nodes) {
    onnx::NodeProto& proto = *graph.add_node();
    proto.set_op_type(node.op.op_type);
    for (const Value& input : node.inputs) proto.add_input(input);
    for (const Value& output : node.outputs) proto.add_output(output);
    for (const auto& [name, value] : node.attributes) add_attribute(proto, name, value);
  }
  return model;
}

}  // namespace

TEST("A rich file is imported as it is written") {
  const auto model = parse_onnx(rich_model().SerializeAsString());
  ASSERT_OK(model);
  ASSERT_OK(build(*model, Loss::kMeanSquaredError));
}

TEST("Initializers that are also listed as inputs are not inputs") {
  const auto model = parse_onnx(small_model().SerializeAsString());
  ASSERT_OK(model);
  TEST_ASSERT_EQUAL_size_t(1, model->inputs.size());
  TEST_ASSERT_EQUAL_STRING("x", model->inputs[0].name.c_str());
  TEST_ASSERT_EQUAL_size_t(1, model->initializers.size());
  TEST_ASSERT_EQUAL_FLOAT(4.0F, model->initializers[0].tensor.values<float>()[3]);
  const auto built = build(*model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_STRING("w", built->package.description.parameters[0].name.c_str());
}

TEST("A truncated file is refused, at whatever byte it ends") {
  const std::string bytes = small_model().SerializeAsString();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto model = parse_onnx(bytes.substr(0, size));
    if (model.ok())
      static_cast<void>(build(*model, Loss::kMeanSquaredError));  // a shorter model; must not crash
  }
  TEST_ASSERT_FALSE(parse_onnx(bytes.substr(0, bytes.size() / 2)).ok());
}

TEST("A file with one flipped byte is read or refused, never crashed on") {
  std::size_t refused = 0;
  std::size_t size = 0;
  for (const std::string& bytes : {small_model().SerializeAsString(), rich_model().SerializeAsString()}) {
    size += bytes.size();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ flip);
        const auto model = parse_onnx(damaged);
        if (!model.ok() || !build(*model, Loss::kMeanSquaredError).ok()) ++refused;
      }
    }
  }
  TEST_ASSERT_TRUE(refused > size);
}

TEST("Weights in other files, sparse weights and functions are refused by name") {
  onnx::ModelProto external = small_model();
  external.mutable_graph()->mutable_initializer(0)->set_data_location(onnx::TensorProto::EXTERNAL);
  ASSERT_CONTAINS(message_of(parse_onnx(external.SerializeAsString())), "'w' is stored in another file");
  onnx::ModelProto sparse = small_model();
  sparse.mutable_graph()->add_sparse_initializer();
  ASSERT_CONTAINS(message_of(parse_onnx(sparse.SerializeAsString())), "sparse");
  onnx::ModelProto function = small_model();
  function.add_functions()->set_name("block");
  ASSERT_CONTAINS(message_of(parse_onnx(function.SerializeAsString())), "'block'");
}

TEST("A tensor whose data do not fit its shape is refused") {
  onnx::ModelProto model = small_model();
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, 3);
  ASSERT_CONTAINS(message_of(parse_onnx(model.SerializeAsString())),
                  "'w' has 16 bytes of data, its shape needs 24");
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, -3);
  ASSERT_CONTAINS(message_of(parse_onnx(model.SerializeAsString())), "impossible shape");
}

TEST("Written graphs name their inputs and outputs, leave the batch free, and hold no weights") {
  FileBuilder file({2, 6, 6});
  file.weight("c", {30, 2, 3, 3}).weight("w", {480, 4});
  file.node("Conv", {"x", "c"}, "h").node("Flatten", {"h"}, "f").node("MatMul", {"f", "w"}, "out");
  const auto built = build(file.model, Loss::kCrossEntropy);
  ASSERT_OK(built);
  onnx::ModelProto train;
  TEST_ASSERT_TRUE(train.ParseFromString(built->package.train_graph));
  const auto& graph = train.graph();
  TEST_ASSERT_EQUAL_STRING("theta", graph.input(0).name().c_str());
  TEST_ASSERT_EQUAL_STRING("x", graph.input(1).name().c_str());
  TEST_ASSERT_EQUAL_STRING("y", graph.input(2).name().c_str());
  TEST_ASSERT_EQUAL_STRING("batch", graph.input(1).type().tensor_type().shape().dim(0).dim_param().c_str());
  TEST_ASSERT_EQUAL_STRING("batch", graph.input(2).type().tensor_type().shape().dim(0).dim_param().c_str());
  TEST_ASSERT_EQUAL_STRING("loss", graph.output(0).name().c_str());
  TEST_ASSERT_EQUAL_STRING("gradient", graph.output(1).name().c_str());
  TEST_ASSERT_TRUE(built->package.train_graph.size() < 10'000);
  TEST_ASSERT_TRUE(built->package.eval_graph.size() < 2'000);
  for (const auto& node : graph.node()) TEST_ASSERT_EQUAL_STRING("", node.domain().c_str());
}

TEST("ONNX's own shape inference agrees with ours on a written training graph") {
  FileBuilder file({2, 7, 7});
  file.weight("c", {3, 2, 3, 3}).weight("g", {3}, 1).weight("b", {3}).weight("m", {3}).weight("v", {3}, 2);
  file.node("Conv", {"x", "c"}, "h", {{"strides", std::vector<std::int64_t>{2, 2}}});
  file.node("BatchNormalization", {"h", "g", "b", "m", "v"}, "n").node("Relu", {"n"}, "r");
  file.node("GlobalAveragePool", {"r"}, "p").node("Flatten", {"p"}, "out");
  const auto built = build(file.model, Loss::kCrossEntropy);
  ASSERT_OK(built);
  onnx::ModelProto train;
  TEST_ASSERT_TRUE(train.ParseFromString(built->package.train_graph));
  for (int i = 1; i < 3; ++i) {
    train.mutable_graph()
        ->mutable_input(i)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_value(5);
  }
  const onnx::ShapeInferenceOptions strict{true, 1, true};
  onnx::shape_inference::InferShapes(train, onnx::OpSchemaRegistry::Instance(), strict);
  const auto& gradient = train.graph().output(1).type().tensor_type().shape();
  TEST_ASSERT_EQUAL_INT64(static_cast<std::int64_t>(built->package.description.dimension()),
                          gradient.dim(0).dim_value());
}
