#include <algorithm>

#include "core/aggregation/vectors/median.h"
#include "core/base/random.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

double sorted_median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : numbers[middle - 1] / 2 + numbers[middle] / 2;
}

void check_median(const std::vector<double>& numbers) {
  std::vector<double> spare;
  TEST_ASSERT_TRUE(median_of(numbers, spare) == sorted_median(numbers));
}

}  // namespace

TEST("The median is the sorted numbers' middle, at every length around the sample's") {
  Random random(1);
  for (std::size_t count = 1; count < 300; ++count) {
    std::vector<double> numbers(count);
    for (double& number : numbers) number = random.normal();
    check_median(numbers);
  }
}

TEST("Thousands of numbers have the right median, also where a sample of them misleads") {
  Random random(2);
  for (const std::size_t count : {1000U, 1023U, 1024U, 4096U, 10001U}) {
    for (std::size_t round = 0; round < 200; ++round) {
      std::vector<double> numbers(count);
      for (double& number : numbers) number = random.normal();
      check_median(numbers);
    }
    // Every number that the sample takes is an outlier.
    std::vector<double> numbers(count);
    for (double& number : numbers) number = random.normal();
    for (std::size_t i = 0; i < 64; ++i) numbers[i * count / 64] = 1e9;
    check_median(numbers);
  }
}

TEST("Equal numbers, sorted ones and two heaps have the right median") {
  for (const std::size_t count : {200U, 201U, 1024U}) {
    check_median(std::vector<double>(count, 3.0));
    std::vector<double> rising(count), heaps(count);
    for (std::size_t i = 0; i < count; ++i) {
      rising[i] = static_cast<double>(i);
      heaps[i] = i % 2 == 0 ? -1.0 : 1.0;
    }
    check_median(rising);
    std::reverse(rising.begin(), rising.end());
    check_median(rising);
    check_median(heaps);
  }
}
