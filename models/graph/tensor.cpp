#include "models/graph/tensor.h"

#include <functional>
#include <numeric>
#include <utility>

namespace aflguard::models {
namespace {

template <typename T>
Tensor make_tensor(ElementType type, const std::vector<T>& values, std::vector<std::int64_t> shape) {
  Tensor tensor{type, std::move(shape), std::vector<std::byte>(values.size() * sizeof(T))};
  check(tensor.size() == values.size(), "a tensor's shape does not fit its values");
  if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

}  // namespace

std::string element_type_name(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
      return "float32";
    case ElementType::kUint8:
      return "uint8";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kBool:
      return "bool";
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kDouble:
      return "float64";
    default:
      return "ONNX element type " + std::to_string(static_cast<int>(type));
  }
}

std::size_t element_size(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
    case ElementType::kInt32:
      return 4;
    case ElementType::kInt64:
    case ElementType::kDouble:
      return 8;
    case ElementType::kBool:
    case ElementType::kUint8:
      return 1;
    case ElementType::kFloat16:
      return 2;
    default:
      return 0;
  }
}

std::size_t Tensor::size() const {
  return std::accumulate(
      shape.begin(), shape.end(), std::size_t{1},
      [](std::size_t product, std::int64_t extent) { return product * static_cast<std::size_t>(extent); });
}

Tensor float_tensor(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return make_tensor(ElementType::kFloat, values, std::move(shape));
}
Tensor float_scalar(float value) {
  return float_tensor({value}, {});
}
Tensor int64_tensor(const std::vector<std::int64_t>& values, std::vector<std::int64_t> shape) {
  return make_tensor(ElementType::kInt64, values, std::move(shape));
}
Tensor int64_vector(const std::vector<std::int64_t>& values) {
  return int64_tensor(values, {static_cast<std::int64_t>(values.size())});
}

}  // namespace aflguard::models
