#include "models/losses.h"

#include <algorithm>

namespace aflguard::models {
namespace {

/// The scores whose softmax the output is; the output itself when it is not a softmax.
Value before_softmax(const Graph& graph, const Value& output) {
  for (const Node& node : graph.nodes) {
    if (node.outputs.front() != output) continue;
    const bool softmax = node.op == OperatorName{"", "Softmax"} || node.op == OperatorName{"", "LogSoftmax"};
    const std::int64_t axis = node.int_or("axis", -1);
    if (softmax && (axis == -1 || axis == 1)) return node.input(0);
  }
  return output;
}

AppendedLoss cross_entropy(GraphBuilder& g, const Value& output, const Value& y) {
  const Value scores = before_softmax(g.graph(), output);
  const std::int64_t classes = g.shape(scores)[1].value;
  const Value on_off = g.constant(float_tensor({0, 1}, {2}));
  const Value truth = g.emit("OneHot", {y, g.ints({classes}), on_off}, {{"axis", std::int64_t{-1}}});
  const Attributes last{{"axis", std::int64_t{-1}}};
  const Value log_likelihood = g.mul(g.emit("LogSoftmax", {scores}, last), truth);
  const Value batch = g.count(scores, {0});
  const Value loss = g.div(g.neg(g.reduce_sum(log_likelihood, {0, 1}, false)), batch);
  const Value difference = g.sub(g.emit("Softmax", {scores}, last), truth);
  return {scores, loss, g.div(difference, batch)};
}

AppendedLoss mean_squared_error(GraphBuilder& g, const Value& output, const Value& y) {
  Axes all;
  for (std::size_t i = 0; i < g.rank(output); ++i) all.push_back(static_cast<std::int64_t>(i));
  const Value difference = g.sub(output, y);
  const Value loss = g.reduce_mean(g.mul(difference, difference), all, false);
  const Value half_count = g.scaled(g.count(output, all), 0.5F);
  return {output, loss, g.div(difference, half_count)};
}

}  // namespace

Result<ValueInfo> target_info(const Shape& output, Loss loss) {
  if (output.empty() || output.front() != kBatchDim) {
    return unsupported("the model's output has shape " + text(output) +
                       "; its first dimension must be the batch");
  }
  if (loss == Loss::kMeanSquaredError) return ValueInfo{ElementType::kFloat, output};
  if (output.size() != 2 || output[1].batch || output[1].value < 2) {
    return unsupported("the model's output has shape " + text(output) +
                       "; cross-entropy needs [batch, classes] with at least 2 classes (use --loss mse, or " +
                       "flatten the output)");
  }
  return ValueInfo{ElementType::kInt64, {kBatchDim}};
}

Result<AppendedLoss> append_loss(GraphBuilder& builder, const Value& output, const Value& y, Loss loss) {
  const AppendedLoss appended = loss == Loss::kCrossEntropy ? cross_entropy(builder, output, y)
                                                            : mean_squared_error(builder, output, y);
  TRY_STATUS(builder.status());
  return appended;
}

}  // namespace aflguard::models
