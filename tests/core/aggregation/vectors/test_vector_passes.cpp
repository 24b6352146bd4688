#include <vector>

#include "core/aggregation/vectors/span_passes.h"
#include "core/aggregation/vectors/vector_passes.h"
#include "core/base/random.h"
#include "core/kernels/instruction_set.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

struct Passes {
  const VectorPasses& vectors;
  const SpanPasses& span;
};

/// What this processor runs besides the baseline.
std::vector<Passes> wider_passes() {
  std::vector<Passes> found;
#if defined(__x86_64__)
  if (widest_instruction_set() >= InstructionSet::kAvx2) found.push_back({kAvx2Passes, kAvx2SpanPasses});
  if (widest_instruction_set() >= InstructionSet::kAvx512)
    found.push_back({kAvx512Passes, kAvx512SpanPasses});
#endif
  return found;
}

std::vector<float> large_noise(std::size_t count, Random& random) {
  std::vector<float> out(count);
  for (float& v : out) v = static_cast<float>(random.normal() * 1e3);
  return out;
}

/// Every number that the passes give for vectors of length n.
std::vector<double> results(const VectorPasses& passes, std::size_t n) {
  Random random(9);
  const auto a = large_noise(n, random), b = large_noise(n, random), c = large_noise(n, random);
  std::vector<double> found = {passes.squared_norm(a.data(), n),
                               passes.squared_distance(a.data(), b.data(), n), 0, 0};
  passes.dot_and_norm(a.data(), b.data(), n, &found[2], &found[3]);
  std::vector<float> next(n);
  passes.step(c.data(), a.data(), 0.3F, next.data(), n);
  found.insert(found.end(), next.begin(), next.end());
  found.push_back(passes.norm_and_step(a.data(), c.data(), 0.3F, next.data(), n, false));
  found.push_back(passes.distance_and_step(a.data(), b.data(), c.data(), 0.3F, next.data(), n, false));
  found.insert(found.end(), next.begin(), next.end());
  return found;
}

std::vector<double> results(const SpanPasses& passes, std::size_t n, std::size_t classes,
                            std::size_t directions) {
  Random random(7);
  const std::size_t turns = (n + 15) / 16;
  const auto g = large_noise(n, random), theta = large_noise(n, random),
             rows = large_noise(turns * 16 * classes, random);
  auto watched = large_noise(turns * 16 * directions, random);
  const auto project = large_noise(classes, random), visible = large_noise(classes, random),
             bend = large_noise(directions, random), turn = large_noise(directions * directions, random),
             enter = large_noise(directions, random);
  std::vector<double> found(classes + classes * directions);
  passes.products(rows.data(), classes, g.data(), n, found.data());
  passes.cross(rows.data(), classes, watched.data(), directions, turns, found.data() + classes);
  std::vector<float> next(n);
  passes.step({classes, directions, project.data(), visible.data(), bend.data(), turn.data(), enter.data(),
               0.7F, 0.01F},
              g.data(), rows.data(), watched.data(), theta.data(), next.data(), n);
  found.insert(found.end(), next.begin(), next.end());
  found.insert(found.end(), watched.begin(), watched.end());
  return found;
}

}  // namespace

TEST("Every instruction set gives the same bits") {
  if (wider_passes().empty()) TEST_IGNORE_MESSAGE("this processor runs the baseline alone");
  for (const Passes& passes : wider_passes()) {
    for (const std::size_t n : {1, 31, 32, 100, 1056, 4097}) {
      TEST_ASSERT_TRUE(results(passes.vectors, n) == results(kBaselinePasses, n));
    }
  }
}

TEST("Every instruction set gives SpanGuard the same bits") {
  if (wider_passes().empty()) TEST_IGNORE_MESSAGE("this processor runs the baseline alone");
  for (const Passes& passes : wider_passes()) {
    for (const std::size_t n : {5, 16, 300}) {
      for (const std::size_t classes : {1, 2, 10}) {
        for (std::size_t directions = 0; directions <= 8; ++directions) {
          TEST_ASSERT_TRUE(results(passes.span, n, classes, directions) ==
                           results(kBaselineSpanPasses, n, classes, directions));
        }
      }
    }
  }
}
