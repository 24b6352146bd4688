#include <algorithm>

#include "models/shapes/shape_rules.h"

namespace aflguard::models {
namespace {

Infos same_as_first(const ShapeQuery& query) {
  return one(query.info(0).type, query.shape(0));
}

Infos floats(const ShapeQuery& query) {
  TRY_STATUS(expect_floats(query, 1));
  return same_as_first(query);
}

/// All inputs broadcast to one shape; the type is that of the last input (Where's first is the condition).
Result<Shape> broadcast_all(const ShapeQuery& query) {
  Shape shape = query.shape(0);
  for (std::size_t i = 1; i < query.inputs(); ++i) {
    TRY(shape, broadcast(shape, query.shape(i)));
  }
  return shape;
}

Infos broadcasting(const ShapeQuery& query) {
  TRY(auto shape, broadcast_all(query));
  const ElementType type = query.info(std::max<std::size_t>(query.inputs(), 1) - 1).type;
  for (std::size_t i = query.node().op.op_type == "Where" ? 1 : 0; i < query.inputs(); ++i) {
    if (query.info(i).type != type) {
      return invalid_input("its inputs are " + element_type_name(query.info(i).type) + " and " +
                           element_type_name(type));
    }
  }
  return one(type, std::move(shape));
}

Infos comparing(const ShapeQuery& query) {
  TRY(auto shape, broadcast_all(query));
  return one(ElementType::kBool, std::move(shape));
}

Infos cast(const ShapeQuery& query) {
  return one(static_cast<ElementType>(query.node().int_or("to", 0)), query.shape(0));
}

}  // namespace

void add_elementwise_shapes(OperatorSet& operators) {
  for (const char* name : {"Relu",
                           "LeakyRelu",
                           "Sigmoid",
                           "Tanh",
                           "HardSwish",
                           "HardSigmoid",
                           "Elu",
                           "Selu",
                           "Celu",
                           "Softplus",
                           "Softsign",
                           "Exp",
                           "Log",
                           "Sqrt",
                           "Reciprocal",
                           "Erf",
                           "Sin",
                           "Cos",
                           "Floor",
                           "Ceil",
                           "Round",
                           "Softmax",
                           "LogSoftmax",
                           "InstanceNormalization",
                           "BatchNormalization"}) {
    operators.shapes[{"", name}] = floats;
  }
  for (const char* name : {"Clip", "Abs", "Neg", "Sign", "Not", "Identity"}) {
    operators.shapes[{"", name}] = same_as_first;
  }
  for (const char* name :
       {"Add", "Sub", "Mul", "Div", "Pow", "PRelu", "Max", "Min", "Sum", "Mean", "Where", "And", "Or"}) {
    operators.shapes[{"", name}] = broadcasting;
  }
  for (const char* name : {"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal"}) {
    operators.shapes[{"", name}] = comparing;
  }
  operators.shapes[{"", "Cast"}] = cast;
}

}  // namespace aflguard::models
