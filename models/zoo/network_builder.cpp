#include "models/zoo/network_builder.h"

#include <cmath>

#include "models/batch_norm.h"

namespace aflguard::models {
namespace {

double first_bound(std::int64_t fan_in, std::int64_t fan_out) {
  return std::sqrt(2.24 / (static_cast<double>(fan_in + fan_out) / 2));
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, const std::vector<std::size_t>& input_shape)
    : name_(std::move(name)), input_(kInputName) {
  Shape shape{kBatchDim};
  for (const std::size_t extent : input_shape) shape.push_back({static_cast<std::int64_t>(extent), false});
  graph_.inputs = {input_};
  graph_.values[input_] = {ElementType::kFloat, shape};
}

Value NetworkBuilder::parameter(const std::string& name, const std::vector<std::int64_t>& shape,
                                Initializer initializer, double bound) {
  Tensor initial{ElementType::kFloat, shape, {}};
  initial.data.resize(initial.size() * sizeof(float));
  const Value value = "parameter/" + name;
  graph_.values[value] = {ElementType::kFloat, constant_shape(shape)};
  parameters_.push_back({name, value, std::move(initial), initializer, bound});
  return value;
}

Value NetworkBuilder::conv(const std::string& name, const Value& x, std::int64_t filters, std::int64_t kernel,
                           std::int64_t stride, std::int64_t pad, bool bias) {
  if (!builder_.status().ok()) return {};
  const std::int64_t channels = builder_.shape(x)[1].value;
  const std::int64_t taps = kernel * kernel;
  std::vector<Value> inputs{
      x, parameter(name + ".weight", {filters, channels, kernel, kernel}, Initializer::kUniform,
                   first_bound(channels * taps, filters * taps))};
  if (bias) inputs.push_back(parameter(name + ".bias", {filters}, Initializer::kZero));
  const std::vector<std::int64_t> pads(4, pad);
  return builder_.emit("Conv", std::move(inputs),
                       {{"kernel_shape", std::vector<std::int64_t>{kernel, kernel}},
                        {"strides", std::vector<std::int64_t>{stride, stride}},
                        {"pads", pads}});
}

Value NetworkBuilder::dense(const std::string& name, const Value& x, std::int64_t outputs) {
  if (!builder_.status().ok()) return {};
  const std::int64_t inputs = builder_.shape(x)[1].value;
  const Value weight =
      parameter(name + ".weight", {outputs, inputs}, Initializer::kUniform, first_bound(inputs, outputs));
  const Value bias = parameter(name + ".bias", {outputs}, Initializer::kZero);
  return builder_.emit("Gemm", {x, weight, bias}, {{"transB", std::int64_t{1}}});
}

Value NetworkBuilder::linear(const std::string& weight, const std::string& bias, const Value& x,
                             std::int64_t outputs) {
  if (!builder_.status().ok()) return {};
  std::vector<Value> inputs{x, parameter(weight, {outputs, builder_.shape(x)[1].value}, Initializer::kZero)};
  if (!bias.empty()) inputs.push_back(parameter(bias, {outputs}, Initializer::kZero));
  return builder_.emit("Gemm", std::move(inputs), {{"transB", std::int64_t{1}}});
}

Value NetworkBuilder::batch_norm(const std::string& name, const Value& x) {
  if (!builder_.status().ok()) return {};
  const std::int64_t channels = builder_.shape(x)[1].value;
  const Value scale = parameter(name + ".weight", {channels}, Initializer::kOne);
  const Value bias = parameter(name + ".bias", {channels}, Initializer::kZero);
  return builder_.emit_many(kBatchNorm, {x, scale, bias}, {{"epsilon", 1e-5F}}, 1).front();
}

Value NetworkBuilder::group_norm(const std::string& name, const Value& x, std::int64_t groups) {
  if (!builder_.status().ok()) return {};
  const Shape shape = builder_.shape(x);
  const std::int64_t channels = shape[1].value;
  const std::int64_t per_group = product(std::span(shape).subspan(1))->value / groups;
  const auto count = static_cast<std::size_t>(groups);
  const Value ones = builder_.constant(float_tensor(std::vector<float>(count, 1.0F), {groups}));
  const Value zeros = builder_.constant(float_tensor(std::vector<float>(count, 0.0F), {groups}));
  const Value grouped = builder_.reshape(x, {shape[0], {groups, false}, {per_group, false}});
  const Value normal = builder_.emit("InstanceNormalization", {grouped, ones, zeros}, {{"epsilon", 1e-5F}});
  const Shape per_channel{{1, false}, {channels, false}, {1, false}, {1, false}};
  const Value scale = parameter(name + ".weight", {channels}, Initializer::kOne);
  const Value bias = parameter(name + ".bias", {channels}, Initializer::kZero);
  const Value scaled = builder_.mul(builder_.reshape(normal, shape), builder_.reshape(scale, per_channel));
  return builder_.add(scaled, builder_.reshape(bias, per_channel));
}

Value NetworkBuilder::max_pool(const Value& x, std::int64_t kernel) {
  const std::vector<std::int64_t> window{kernel, kernel};
  return builder_.emit("MaxPool", {x}, {{"kernel_shape", window}, {"strides", window}});
}

Value NetworkBuilder::flatten(const Value& x) {
  if (!builder_.status().ok()) return {};
  const Shape& shape = builder_.shape(x);
  return builder_.reshape(x, {shape[0], *product(std::span(shape).subspan(1))});
}

Result<ForwardModel> NetworkBuilder::finish(const Value& output) {
  TRY_STATUS(builder_.status());
  graph_.outputs = {output};
  ForwardModel model;
  model.name = name_;
  model.graph = std::move(graph_);
  model.parameters = std::move(parameters_);
  return model;
}

}  // namespace aflguard::models
