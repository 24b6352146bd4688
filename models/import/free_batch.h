#pragma once

#include <optional>

#include "core/base/result.h"
#include "models/graph/shape.h"

namespace aflguard::models {

/// The shape that a Reshape of `input` to `target` has, with the batch free. `target` may hold 0 (copy the
/// input's extent, unless `allow_zero`), -1 (the rest), and extents that depend on the batch.
///
/// A target without the batch, as files exported for one batch size have it ([8, 1250]), is read as if it
/// were computed from the batch: elements keep their order, so the extent at which the samples begin becomes
/// the batch. kUnsupported when there is none.
[[nodiscard]] Result<Shape> reshaped(const Shape& input, const Shape& target,
                                     std::optional<std::int64_t> fixed_batch, bool allow_zero);

}  // namespace aflguard::models
