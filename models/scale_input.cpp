#include "models/scale_input.h"

#include <algorithm>
#include <iterator>

#include "models/graph/graph_builder.h"

namespace aflguard::models {

Status scale_input(ForwardModel& model, const OperatorSet& operators, const InputScaling& scaling) {
  if (scaling.empty()) return {};
  Graph& graph = model.graph;
  std::vector<std::int64_t> extents;
  std::size_t features = 1;
  for (std::size_t i = 1; i < graph.shape(kInputName).size(); ++i) {
    extents.push_back(graph.shape(kInputName)[i].value);
    features *= static_cast<std::size_t>(extents.back());
  }
  if (scaling.means.size() != features || scaling.deviations.size() != features) {
    return invalid_input("scaling has " + std::to_string(scaling.means.size()) +
                         " features, the model's input has " + std::to_string(features));
  }
  std::vector<Node> rest = std::move(graph.nodes);
  graph.nodes.clear();
  GraphBuilder builder(graph, operators);
  builder.set_origin("input_scaling");
  const Value centred = builder.sub(kInputName, builder.constant(float_tensor(scaling.means, extents)));
  const Value scaled = builder.div(centred, builder.constant(float_tensor(scaling.deviations, extents)));
  TRY_STATUS(builder.status());
  const Value raw = kInputName;
  for (Node& node : rest) std::ranges::replace(node.inputs, raw, scaled);
  std::ranges::replace(graph.outputs, raw, scaled);
  graph.nodes.insert(graph.nodes.end(), std::make_move_iterator(rest.begin()),
                     std::make_move_iterator(rest.end()));
  return {};
}

}  // namespace aflguard::models
