#include <limits>

#include "core/learning/data/dataset.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;

namespace {

Dataset three_samples() {
  Dataset data;
  data.name = "three";
  data.sample_shape = {2};
  data.features = std::vector<float>{1, 2, 3, 4, 5, 6};
  data.labels = {0, 1, 2};
  data.subjects = {7, 8, 9};
  data.classes = 3;
  return data;
}

}  // namespace

TEST("A selection keeps the order of its indices, repeats included, with labels and subjects") {
  const Dataset data = three_samples();
  const std::vector<std::size_t> indices = {2, 0, 2};
  const Dataset chosen = data.select(indices);
  ASSERT_OK(chosen.validate());
  TEST_ASSERT_TRUE((std::get<std::vector<float>>(chosen.features) == std::vector<float>{5, 6, 1, 2, 5, 6}));
  TEST_ASSERT_TRUE((chosen.labels == std::vector<std::int64_t>{2, 0, 2}));
  TEST_ASSERT_TRUE((chosen.subjects == std::vector<std::int64_t>{9, 7, 9}));
  TEST_ASSERT_TRUE(chosen.name == data.name && chosen.sample_shape == data.sample_shape &&
                   chosen.classes == 3);
}

TEST("A selection of regression data keeps values, and pixels stay bytes") {
  Dataset data;
  data.sample_shape = {1};
  data.features = std::vector<std::uint8_t>{10, 20};
  data.values = {0.5F, 1.5F};
  const std::vector<std::size_t> indices = {1};
  const Dataset chosen = data.select(indices);
  TEST_ASSERT_TRUE((std::get<std::vector<std::uint8_t>>(chosen.features) == std::vector<std::uint8_t>{20}));
  TEST_ASSERT_TRUE((chosen.values == std::vector<float>{1.5F}));
}

TEST("Sizes that disagree, labels that are not a class and values that are not finite are refused") {
  ASSERT_OK(three_samples().validate());
  Dataset data = three_samples();
  std::get<std::vector<float>>(data.features).pop_back();
  ASSERT_CONTAINS(message_of(data.validate()), "has 5 feature values, 3 samples of shape [2] need 6");
  data = three_samples();
  data.subjects.pop_back();
  ASSERT_CONTAINS(message_of(data.validate()), "has 2 subjects for 3 samples");
  data = three_samples();
  data.labels[1] = 3;
  ASSERT_CONTAINS(message_of(data.validate()), "sample 1 has label 3, expected 0 to 2");
  data.labels[1] = -1;
  ASSERT_CONTAINS(message_of(data.validate()), "has label -1");
  data = three_samples();
  std::get<std::vector<float>>(data.features)[3] = std::numeric_limits<float>::infinity();
  ASSERT_CONTAINS(message_of(data.validate()), "sample 1 has a feature that is not finite");
}

TEST("A batch holds the samples in order, and pixels are divided by 255") {
  Dataset data;
  data.sample_shape = {1, 1, 2};
  data.features = std::vector<std::uint8_t>{0, 255, 51, 102};
  data.labels = {4, 5};
  data.classes = 6;
  BatchBuffer buffer;
  const std::vector<std::size_t> indices = {1, 0};
  const Batch batch = buffer.gather(data, indices);
  TEST_ASSERT_EQUAL_size_t(2, batch.size);
  TEST_ASSERT_EQUAL_FLOAT(0.2F, batch.features[0]);
  TEST_ASSERT_EQUAL_FLOAT(1.0F, batch.features[3]);
  TEST_ASSERT_EQUAL_INT64(5, batch.labels[0]);
  TEST_ASSERT_TRUE(batch.values.empty());
}
