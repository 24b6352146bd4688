#include "models/recurrent.h"

#include "models/shapes/shape_rules.h"

namespace aflguard::models {
namespace {

Status expect(const ShapeQuery& query, std::size_t input, const char* what, const Shape& wanted) {
  if (query.shape(input) == wanted) return {};
  return invalid_input(std::string(what) + " is " + text(query.shape(input)) + ", expected " + text(wanted));
}

/// X [steps, batch, features], W [directions, gates * hidden, features], R [directions, gates * hidden,
/// hidden], B [directions, 2 * gates * hidden], nothing, and the states before the first step.
/// -> Y [steps, directions, batch, hidden], and the states after the last step.
Infos recurrent(const ShapeQuery& query) {
  TRY_STATUS(expect_floats(query, 3));
  const Shape x = query.shape(0);
  const Shape r = query.shape(2);
  if (x.size() != 3 || x[0].batch || x[2].batch) {
    return invalid_input("the input " + text(x) + " is not [steps, batch, features]");
  }
  if (r.size() != 3) return invalid_input("weight R is " + text(r) + ", expected three axes");
  const std::int64_t gates = gates_of(query.node().op.op_type);
  const Dim directions{query.node().string_or("direction", "forward") == "bidirectional" ? 2 : 1, false};
  const Dim hidden = r[2];
  const auto rows = times(hidden, {gates, false});
  if (!rows) return invalid_input("weight R is " + text(r) + ", which is too large");
  TRY_STATUS(expect(query, 2, "weight R", {directions, *rows, hidden}));
  TRY_STATUS(expect(query, 1, "weight W", {directions, *rows, x[2]}));
  if (query.has(3)) TRY_STATUS(expect(query, 3, "bias B", {directions, {2 * rows->value, false}}));
  const Shape state{directions, x[1], hidden};
  if (query.has(5)) TRY_STATUS(expect(query, 5, "the initial state", state));
  if (query.has(6)) TRY_STATUS(expect(query, 6, "the initial cell state", state));
  const ElementType type = query.info(0).type;
  std::vector<ValueInfo> infos{{type, {x[0], directions, x[1], hidden}}, {type, state}};
  if (gates == 4) infos.push_back({type, state});
  return infos;
}

}  // namespace

void add_recurrent_shapes(OperatorSet& operators) {
  for (const char* name : {"LSTM", "GRU", "RNN"}) operators.shapes[{"", name}] = recurrent;
}

}  // namespace aflguard::models
