#include <algorithm>
#include <set>

#include "core/learning/data/partition.h"
#include "lab/tasks/trusted_set.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;

namespace {

/// `per_class` samples of each class; feature = running number.
Dataset labelled(std::size_t classes, std::size_t per_class) {
  Dataset data;
  data.name = "labelled";
  data.classes = classes;
  data.sample_shape = {1};
  std::vector<float> features;
  for (std::size_t i = 0; i < classes * per_class; ++i) {
    features.push_back(static_cast<float>(i));
    data.labels.push_back(static_cast<std::int64_t>(i % classes));
  }
  data.features = features;
  return data;
}

std::size_t total(const Shares& shares) {
  std::set<std::size_t> different;
  std::size_t count = 0;
  for (const auto& share : shares) {
    different.insert(share.begin(), share.end());
    count += share.size();
  }
  TEST_ASSERT_EQUAL_UINT64(count, different.size());  // nobody shares a sample
  return count;
}

}  // namespace

TEST("Equal shares hold every sample once and differ by at most one") {
  Random random(1);
  const Shares shares = share_iid(1003, 10, random);
  TEST_ASSERT_EQUAL_UINT64(1003, total(shares));
  for (const auto& share : shares) TEST_ASSERT_TRUE(share.size() == 100 || share.size() == 101);
}

TEST("Of a label's samples, the fraction q reaches its own group and the rest spreads evenly") {
  const Dataset data = labelled(10, 4000);
  Random random(2);
  const Shares shares = share_by_label(data, 100, 0.5, random);
  TEST_ASSERT_EQUAL_UINT64(data.size(), total(shares));
  std::vector<std::vector<double>> reached(10, std::vector<double>(10));  // [label][group]
  for (std::size_t client = 0; client < shares.size(); ++client) {
    for (const std::size_t i : shares[client]) {
      reached[static_cast<std::size_t>(data.labels[i])][client % 10] += 1.0 / 4000;
    }
  }
  for (std::size_t label = 0; label < 10; ++label) {
    for (std::size_t group = 0; group < 10; ++group) {
      const double expected = label == group ? 0.5 : 0.5 / 9;
      TEST_ASSERT_DOUBLE_WITHIN(0.04, expected, reached[label][group]);
    }
  }
}

TEST("Fewer clients than classes still get every sample") {
  const Dataset data = labelled(10, 50);
  Random random(3);
  TEST_ASSERT_EQUAL_UINT64(500, total(share_by_label(data, 3, 0.9, random)));
  TEST_ASSERT_EQUAL_UINT64(500, total(share_by_label(data, 1, 0.9, random)));
}

TEST("Each subject becomes a client and keeps a quarter of its samples for the test") {
  Dataset data = labelled(2, 60);
  for (std::size_t i = 0; i < data.size(); ++i) data.subjects.push_back(i < 40 ? 7 : 3);
  Random random(4);
  const auto split = split_per_subject(data, 0.75, random);
  ASSERT_OK(split);
  TEST_ASSERT_EQUAL_UINT64(2, split->shares.size());
  TEST_ASSERT_EQUAL_UINT64(60, split->shares[0].size());  // subject 3 has 80 samples and comes first
  TEST_ASSERT_EQUAL_UINT64(30, split->shares[1].size());
  TEST_ASSERT_EQUAL_UINT64(30, split->test.size());
  for (const std::size_t at : split->shares[1]) TEST_ASSERT_EQUAL_INT64(7, data.subjects[split->train[at]]);
  data.subjects.clear();
  ASSERT_CONTAINS(aflguard::testing::message_of(split_per_subject(data, 0.75, random)), "subject");
}

TEST("The trusted set has the asked-for share of the first class, and no sample twice") {
  const Dataset data = labelled(4, 100);
  Random random(5);
  for (const double shift : {0.0, 0.25, 0.5, 1.0}) {
    const auto trusted = draw_trusted_set(data, 80, shift, random);
    ASSERT_OK(trusted);
    TEST_ASSERT_EQUAL_UINT64(80, trusted->size());
    const auto first = std::count(trusted->labels.begin(), trusted->labels.end(), 0);
    TEST_ASSERT_EQUAL_INT64(static_cast<std::int64_t>(shift * 80), first);
    const auto& features = std::get<std::vector<float>>(trusted->features);
    TEST_ASSERT_EQUAL_UINT64(80, std::set<float>(features.begin(), features.end()).size());
  }
}

TEST("A trusted set larger than the data is refused with both numbers") {
  const Dataset data = labelled(4, 100);
  Random random(6);
  const std::string message = aflguard::testing::message_of(draw_trusted_set(data, 300, 0.5, random));
  ASSERT_CONTAINS(message, "150 samples of the first class");
  ASSERT_CONTAINS(message, "has 100");
}
