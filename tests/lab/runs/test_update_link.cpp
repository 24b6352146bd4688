#include "core/base/random.h"
#include "lab/runs/update_link.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

std::vector<float> numbers() {
  Random random(1);
  std::vector<float> numbers(500);
  for (float& number : numbers) number = static_cast<float>(random.normal());
  return numbers;
}

ExperimentSettings with(std::string encoding, bool feedback) {
  ExperimentSettings settings;
  settings.encoding = std::move(encoding);
  settings.feedback = feedback;
  return settings;
}

}  // namespace

TEST("float32 arrives as it is, other encodings with their error") {
  auto update = numbers();
  ASSERT_OK(UpdateLink(with("float32", true)).carry(0, 0, update));
  TEST_ASSERT_TRUE(update == numbers());
  ASSERT_OK(UpdateLink(with("int8", false)).carry(0, 0, update));
  const double error = relative_error(numbers(), update);
  TEST_ASSERT_TRUE(error > 0.001 && error < 0.01);
}

TEST("With feedback what is lost comes later: sums of many updates agree") {
  for (const bool feedback : {true, false}) {
    UpdateLink link(with("int4", feedback));
    std::vector<float> sum(500);
    std::vector<float> wanted(500);
    for (std::uint64_t t = 0; t < 50; ++t) {
      auto update = numbers();
      for (std::size_t i = 0; i < sum.size(); ++i) wanted[i] += update[i];
      ASSERT_OK(link.carry(3, t, update));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += update[i];
    }
    const double error = relative_error(wanted, sum);
    TEST_ASSERT_TRUE(feedback ? error < 0.006 : error > 0.01);
  }
}
