#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "models/graph/graph.h"

namespace aflguard::models {

/// Integers known while importing: constants, and what exporters compute from shapes. An element may be a
/// multiple of the batch size. Scalars have an empty shape.
struct SymbolicInts {
  std::vector<std::int64_t> shape;
  std::vector<Dim> values;
  ElementType type = ElementType::kInt64;

  [[nodiscard]] bool depends_on_batch() const;
  /// The values; kUnsupported when one depends on the batch.
  [[nodiscard]] Result<std::vector<std::int64_t>> constants() const;
};

/// Reads an int64, int32 or bool tensor; nothing for other types.
[[nodiscard]] std::optional<SymbolicInts> symbolic_ints(const Tensor& tensor);
[[nodiscard]] Tensor to_tensor(const SymbolicInts& ints);  ///< those without the batch only

/// Evaluates a node of shape arithmetic (Gather, Concat, Mul, ...) whose inputs are all known.
/// Nothing when the operator is none of those; an error when its result is not linear in the batch.
[[nodiscard]] Result<std::optional<SymbolicInts>> fold_ints(const Node& node,
                                                            const std::vector<SymbolicInts>& inputs);

}  // namespace aflguard::models
