#include <algorithm>
#include <map>
#include <vector>

#include "core/aggregation/running_median.h"
#include "core/base/random.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

double sorted_median(const std::map<std::uint64_t, double>& numbers) {
  std::vector<double> all;
  for (const auto& [key, number] : numbers) all.push_back(number);
  std::sort(all.begin(), all.end());
  const std::size_t middle = all.size() / 2;
  return all.size() % 2 == 1 ? all[middle] : all[middle - 1] / 2 + all[middle] / 2;
}

}  // namespace

TEST("The running median equals the sorted one through inserts, replacements and removals") {
  Random random(1);
  RunningMedian median;
  std::map<std::uint64_t, double> numbers;
  for (int step = 0; step < 3000; ++step) {
    const std::uint64_t key = random.below(60);
    const auto value = static_cast<double>(random.below(20));  // few values: many ties
    const auto found = numbers.find(key);
    if (found == numbers.end()) {
      median.insert(key, value);
      numbers[key] = value;
    } else if (random.below(4) == 0 && numbers.size() > 1) {
      median.erase(key, found->second);
      numbers.erase(found);
    } else {
      median.replace(key, found->second, value);
      found->second = value;
    }
    TEST_ASSERT_EQUAL_UINT64(numbers.size(), median.size());
    TEST_ASSERT_EQUAL_DOUBLE(sorted_median(numbers), median.median());
  }
}
