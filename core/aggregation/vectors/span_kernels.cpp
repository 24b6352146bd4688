#include "core/aggregation/vectors/span_kernels.h"

#include "core/base/check.h"
#include "core/kernels/instruction_set.h"

namespace aflguard {
namespace {

const SpanPasses& passes() {
#if defined(__x86_64__)
  switch (chosen_instruction_set()) {
    case InstructionSet::kAvx512:
      return kAvx512SpanPasses;
    case InstructionSet::kAvx2:
      return kAvx2SpanPasses;
    case InstructionSet::kBaseline:
      break;
  }
#endif
  return kBaselineSpanPasses;
}

}  // namespace

std::vector<double> products(const RowBundle& rows, std::span<const float> g) {
  check(rows.empty() || rows.length() == g.size(), "products of rows with a vector of another length");
  std::vector<double> out(rows.rows());
  passes().products(rows.data(), rows.rows(), g.data(), g.size(), out.data());
  return out;
}

SmallMatrix cross_products(const RowBundle& a, const RowBundle& b) {
  check(a.empty() || b.empty() || a.length() == b.length(), "cross products of different lengths");
  SmallMatrix out(a.rows(), b.rows());
  passes().cross(a.data(), a.rows(), b.data(), b.rows(), a.turns(), out.numbers().data());
  return out;
}

void take_span_step(const SpanStep& step, std::span<const float> g, const RowBundle& classes,
                    RowBundle& directions, std::span<const float> theta, std::span<float> next) {
  check(g.size() == theta.size() && g.size() == next.size() && step.classes == classes.rows() &&
            (classes.empty() || classes.length() == g.size()) && step.directions == directions.rows() &&
            step.directions <= kMostDirections && (directions.empty() || directions.length() == g.size()),
        "take_span_step of different lengths");
  passes().step(step, g.data(), classes.data(), directions.data(), theta.data(), next.data(), g.size());
}

std::vector<float> sketch_of(std::span<const float> v, std::uint64_t key) {
  constexpr std::size_t kBeyond = RowBundle::kTurn;  // the last places reach over the end, and begin again
  std::vector<float> sums(kSketch + kBeyond);
  passes().sketch(v.data(), v.size(), key, sums.data());
  for (std::size_t i = 0; i < kBeyond; ++i) sums[i] += sums[kSketch + i];
  sums.resize(kSketch);
  return sums;
}

}  // namespace aflguard
