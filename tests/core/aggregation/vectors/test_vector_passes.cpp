#include <vector>

#include "core/aggregation/vectors/vector_passes.h"
#include "core/base/random.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("Every instruction set gives the same bits") {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") == 0) TEST_IGNORE_MESSAGE("this processor has no AVX2");
  Random random(9);
  for (const std::size_t n : {1, 31, 32, 100, 4097}) {
    std::vector<float> a(n), b(n), c(n);
    for (auto* v : {&a, &b, &c}) {
      for (float& x : *v) x = static_cast<float>(random.normal() * 1e3);
    }
    std::vector<float> next_one(n), next_two(n);
    TEST_ASSERT_TRUE(kAvx2Passes.squared_norm(a.data(), n) == kBaselinePasses.squared_norm(a.data(), n));
    TEST_ASSERT_TRUE(
        kAvx2Passes.distance_and_step(a.data(), b.data(), c.data(), 0.3F, next_one.data(), n, false) ==
        kBaselinePasses.distance_and_step(a.data(), b.data(), c.data(), 0.3F, next_two.data(), n, false));
    TEST_ASSERT_TRUE(next_one == next_two);
    double dot_one = 0, norm_one = 0, dot_two = 0, norm_two = 0;
    kAvx2Passes.dot_and_norm(a.data(), b.data(), n, &dot_one, &norm_one);
    kBaselinePasses.dot_and_norm(a.data(), b.data(), n, &dot_two, &norm_two);
    TEST_ASSERT_TRUE(dot_one == dot_two && norm_one == norm_two);
  }
#else
  TEST_IGNORE_MESSAGE("this architecture has one instruction set");
#endif
}
