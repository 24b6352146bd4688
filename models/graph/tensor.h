#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/check.h"

namespace aflguard::models {

/// Element types by the numbers that ONNX gives them. Other types are read, so that a refusal can name them.
enum class ElementType : std::uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
};

[[nodiscard]] std::string element_type_name(ElementType type);
/// Bytes per element; 0 for types whose values we never look at.
[[nodiscard]] std::size_t element_size(ElementType type);

/// A constant: a plain array in row-major order.
struct Tensor {
  ElementType type = ElementType::kFloat;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;

  [[nodiscard]] std::size_t size() const;

  template <typename T>
  [[nodiscard]] std::vector<T> values() const {
    check(element_size(type) == sizeof(T), "a tensor read as a type of another width");
    std::vector<T> result(data.size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), data.data(), data.size());
    return result;
  }

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

[[nodiscard]] Tensor float_tensor(const std::vector<float>& values, std::vector<std::int64_t> shape);
[[nodiscard]] Tensor float_scalar(float value);
[[nodiscard]] Tensor int64_tensor(const std::vector<std::int64_t>& values, std::vector<std::int64_t> shape);
[[nodiscard]] Tensor int64_vector(const std::vector<std::int64_t>& values);

}  // namespace aflguard::models
