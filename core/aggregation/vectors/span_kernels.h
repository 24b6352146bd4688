#pragma once

#include <span>

#include "core/aggregation/vectors/row_bundle.h"
#include "core/aggregation/vectors/small_matrix.h"
#include "core/aggregation/vectors/span_passes.h"

namespace aflguard {

// SpanGuard's passes over memory. The same promise as in vector_kernels.h: sums in double, in a fixed order,
// the same bits whatever the machine.

constexpr std::size_t kMostDirections = 8;

/// The inner product of every row with g, which has the rows' length.
[[nodiscard]] std::vector<double> products(const RowBundle& rows, std::span<const float> g);

/// (a.rows() x b.rows()) inner products of two bundles of one length.
[[nodiscard]] SmallMatrix cross_products(const RowBundle& a, const RowBundle& b);

/// Writes `next` and turns `directions`, as SpanStep says. The sizes fit each other.
void take_span_step(const SpanStep& step, std::span<const float> g, const RowBundle& classes,
                    RowBundle& directions, std::span<const float> theta, std::span<float> next);

/// A count sketch of v, kSketch floats: every number is added to, or subtracted from, one place that `key`
/// chooses. Linear in v; inner products of sketches estimate those of the vectors, with a deviation of
/// ||a|| ||b|| / 32.
[[nodiscard]] std::vector<float> sketch_of(std::span<const float> v, std::uint64_t key);

}  // namespace aflguard
