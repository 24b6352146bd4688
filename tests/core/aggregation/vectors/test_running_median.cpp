#include <algorithm>
#include <map>
#include <vector>

#include "core/aggregation/vectors/running_median.h"
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

TEST("Thousands of keys, rising, falling, equal and gone again, keep the median exact") {
  RunningMedian median;
  std::map<std::uint64_t, double> numbers;
  Random random(2);
  const auto compare = [&] { TEST_ASSERT_EQUAL_DOUBLE(sorted_median(numbers), median.median()); };
  for (std::uint64_t key = 0; key < 3000; ++key) {
    const double value =
        key < 1000 ? static_cast<double>(key) : (key < 2000 ? -1.0 * static_cast<double>(key) : 7);
    median.insert(key, value);
    numbers[key] = value;
    if (key % 97 == 0) compare();
  }
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t key = random.below(3000);
    const double value = random.normal() * 1000;
    median.replace(key, numbers[key], value);
    numbers[key] = value;
    if (i % 97 == 0) compare();
  }
  for (std::uint64_t key = 0; key < 2999; ++key) {
    median.erase(key, numbers[key]);
    numbers.erase(key);
    if (key % 97 == 0) compare();
  }
  compare();
  median.erase(2999, numbers[2999]);
  TEST_ASSERT_EQUAL_size_t(0, median.size());
  median.insert(5, 4.5);
  TEST_ASSERT_EQUAL_DOUBLE(4.5, median.median());
}

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
