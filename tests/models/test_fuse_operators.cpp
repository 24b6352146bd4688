#include <algorithm>
#include <string>

#include "models/fused/fused_operators.h"
#include "models/zoo/network_builder.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::models;

namespace {

/// Finishes the network, fuses it, and lists its operators in order: "Conv*" is one of ours.
std::string fused_operators(NetworkBuilder& network, const Value& output) {
  auto model = network.finish(output);
  ASSERT_OK(model);
  OperatorSet operators = standard_operators();
  add_fused_operators(operators);
  ASSERT_OK(fuse_operators(model->graph, operators));
  std::string list;
  for (const Node& node : model->graph.nodes) {
    list += (list.empty() ? "" : " ") + node.op.op_type + (node.op.domain == kFusedDomain ? "*" : "");
    if (node.int_or("relu", 0) != 0) list += "+relu";
  }
  return list;
}

void assert_operators(const std::string& expected, NetworkBuilder& network, const Value& output) {
  TEST_ASSERT_EQUAL_STRING(expected.c_str(), fused_operators(network, output).c_str());
}

Value pooled(NetworkBuilder& network, const Value& x, Attributes attributes) {
  attributes["kernel_shape"] = std::vector<std::int64_t>{2, 2};
  return network.graph().emit("MaxPool", {x}, std::move(attributes));
}

}  // namespace

TEST("A convolution takes the rectifier and the pooling behind it, in either order") {
  NetworkBuilder first("m", {1, 8, 8});
  assert_operators("ConvPool*+relu", first,
                   first.max_pool(first.relu(first.conv("c", first.input(), 4, 3, 1, 0, true)), 2));
  NetworkBuilder second("m", {1, 8, 8});
  assert_operators("ConvPool*+relu", second,
                   second.relu(second.max_pool(second.conv("c", second.input(), 4, 3, 1, 0, true), 2)));
}

TEST("A convolution alone is replaced too, and a second rectifier stays") {
  NetworkBuilder network("m", {1, 8, 8});
  const Value conv = network.conv("c", network.input(), 4, 3, 1, 0, true);
  assert_operators("Conv*+relu Relu", network, network.relu(network.relu(conv)));
}

TEST("A value that something else reads is not fused away") {
  NetworkBuilder network("m", {1, 8, 8});
  const Value conv = network.conv("c", network.input(), 4, 3, 1, 1, true);
  assert_operators("Conv* Relu Add", network, network.graph().add(network.relu(conv), conv));
}

TEST("Pooling that overlaps, pads or is not two by two of whole windows keeps the standard operator") {
  const std::vector<Attributes> others = {
      {{"strides", std::vector<std::int64_t>{1, 1}}},
      {{"strides", std::vector<std::int64_t>{2, 2}}, {"pads", std::vector<std::int64_t>{0, 0, 1, 1}}},
      {{"strides", std::vector<std::int64_t>{2, 2}}, {"dilations", std::vector<std::int64_t>{2, 2}}}};
  for (const Attributes& attributes : others) {
    NetworkBuilder network("m", {1, 9, 9});
    const Value conv = network.conv("c", network.input(), 4, 3, 1, 0, true);
    assert_operators("Conv* MaxPool", network, pooled(network, conv, attributes));
  }
}

TEST("Grouped convolutions keep the standard operator") {
  NetworkBuilder network("m", {4, 8, 8});
  const Value conv = network.conv("c", network.input(), 4, 3, 1, 0, false);
  const Value weight = network.graph().graph().nodes.back().inputs[1];
  network.graph().graph().values[weight].shape[1] = {1, false};
  network.graph().graph().nodes.back().attributes["group"] = std::int64_t{4};
  assert_operators("Conv", network, conv);
}

TEST("A normalisation takes the residual sum and the rectifier; of two that meet in a sum, the first does") {
  NetworkBuilder network("m", {4, 8, 8});
  const Value left = network.batch_norm("a", network.conv("c", network.input(), 4, 3, 1, 1, false));
  const Value right = network.batch_norm("b", network.conv("d", network.input(), 4, 1, 1, 0, false));
  const std::string operators = fused_operators(network, network.relu(network.graph().add(left, right)));
  TEST_ASSERT_EQUAL_STRING("Conv* Conv* BatchNorm* BatchNorm*+relu", operators.c_str());
}

TEST("A sum with a tensor of another shape is not a residual") {
  NetworkBuilder network("m", {4, 8, 8});
  const Value norm = network.batch_norm("a", network.input());
  assert_operators("BatchNorm* Add", network, network.graph().add(norm, network.graph().scalar(1)));
}
