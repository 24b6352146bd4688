#include <algorithm>

#include "models/import/import_context.h"
#include "models/shapes/window.h"

namespace aflguard::models {
namespace {

std::vector<std::int64_t> kernel_of(const Shape& weight) {
  std::vector<std::int64_t> kernel;
  for (std::size_t i = 2; i < weight.size(); ++i) kernel.push_back(weight[i].value);
  return kernel;
}

Status conv(ImportContext& c) {
  const Value x = c.input(0);
  const Value w = c.input(1);
  if (!c.g.status().ok()) return {};
  if (c.g.rank(x) < 3 || c.g.rank(w) != c.g.rank(x)) {
    return c.refuse("input " + text(c.g.shape(x)) + " and weight " + text(c.g.shape(w)) + " do not fit");
  }
  Attributes attributes;
  for (const char* key : {"strides", "dilations", "group"}) {
    if (c.node.has(key)) attributes[key] = c.node.attributes.at(key);
  }
  const auto kernel = kernel_of(c.g.shape(w));
  TRY(attributes["pads"], explicit_pads(c.node, c.g.shape(x), kernel));
  attributes["kernel_shape"] = c.node.ints_or("kernel_shape", kernel);
  std::vector<Value> inputs{x, w};
  if (c.has(2)) inputs.push_back(c.input(2));
  c.give(0, c.g.emit("Conv", std::move(inputs), std::move(attributes)));
  return {};
}

Status conv_transpose(ImportContext& c) {
  if (c.node.has("output_shape") || c.node.string_or("auto_pad", "NOTSET") != "NOTSET") {
    return c.refuse("only explicit padding is supported: export it without output_shape and auto_pad");
  }
  Attributes attributes;
  for (const char* key : {"strides", "dilations", "group", "pads", "output_padding", "kernel_shape"}) {
    if (c.node.has(key)) attributes[key] = c.node.attributes.at(key);
  }
  c.give(0, c.g.emit("ConvTranspose", c.all_inputs(), std::move(attributes)));
  return {};
}

Status gemm(ImportContext& c) {
  Attributes attributes;
  for (const char* key : {"alpha", "beta", "transA", "transB"}) {
    if (c.node.has(key)) attributes[key] = c.node.attributes.at(key);
  }
  std::vector<Value> inputs{c.input(0), c.input(1)};
  if (c.has(2)) inputs.push_back(c.input(2));
  c.give(0, c.g.emit("Gemm", std::move(inputs), std::move(attributes)));
  return {};
}

Status matmul(ImportContext& c) {
  c.give(0, c.g.emit("MatMul", {c.input(0), c.input(1)}));
  return {};
}

}  // namespace

Result<std::vector<std::int64_t>> explicit_pads(const Node& node, const Shape& input,
                                                const std::vector<std::int64_t>& kernel) {
  const std::size_t rank = kernel.size();
  const std::string mode = node.string_or("auto_pad", "NOTSET");
  std::vector<std::int64_t> pads(2 * rank, 0);
  if (mode == "NOTSET" || mode.empty()) return node.ints_or("pads", pads);
  if (mode == "VALID") return pads;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    return unsupported(describe(node) + ": auto_pad is '" + mode + "', which is unknown");
  }
  const auto strides = node.ints_or("strides", std::vector<std::int64_t>(rank, 1));
  const auto dilations = node.ints_or("dilations", std::vector<std::int64_t>(rank, 1));
  const auto impossible = [](std::int64_t value) { return value < 1 || value > kMaxWindowExtent; };
  if (strides.size() != rank || dilations.size() != rank || input.size() != rank + 2 ||
      std::ranges::any_of(strides, impossible) || std::ranges::any_of(dilations, impossible) ||
      std::ranges::any_of(kernel, impossible)) {
    return invalid_input(describe(node) + ": strides or dilations do not fit the kernel");
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t extent = input[i + 2].value;
    const std::int64_t positions = (extent + strides[i] - 1) / strides[i];
    const std::int64_t reach = dilations[i] * (kernel[i] - 1) + 1;
    const std::int64_t total = std::max<std::int64_t>((positions - 1) * strides[i] + reach - extent, 0);
    const std::int64_t smaller = total / 2;
    pads[i] = mode == "SAME_UPPER" ? smaller : total - smaller;
    pads[i + rank] = total - pads[i];
  }
  return pads;
}

void add_layer_imports(ImportTable& table) {
  table["Conv"] = conv;
  table["ConvTranspose"] = conv_transpose;
  table["Gemm"] = gemm;
  table["MatMul"] = matmul;
}

}  // namespace aflguard::models
