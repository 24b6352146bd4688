#include <limits>

#include "core/learning/data/npy.h"
#include "core/learning/data/npy_dataset.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;

namespace {

struct Files {
  testing::TemporaryFolder folder;
  std::filesystem::path features = folder / "features.npy";
  std::filesystem::path labels = folder / "labels.npy";
  std::filesystem::path values = folder / "values.npy";
  Files() {
    ASSERT_OK(write_npy(features, std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}));
    ASSERT_OK(write_npy(labels, std::vector<std::int64_t>{0, 3}, {2}));
    ASSERT_OK(write_npy(values, std::vector<float>{0.5F, -1}, {2}));
  }
};

}  // namespace

TEST("Arrays become a classification data set with subjects, or a regression data set") {
  const Files files;
  const auto data = read_npy_dataset("n", 4, files.features, files.labels, files.labels);
  ASSERT_OK(data);
  TEST_ASSERT_TRUE((data->sample_shape == std::vector<std::size_t>{3}));
  TEST_ASSERT_TRUE((data->subjects == std::vector<std::int64_t>{0, 3}));
  const auto regression = read_npy_dataset("n", 0, files.features, files.values);
  ASSERT_OK(regression);
  TEST_ASSERT_TRUE((regression->values == std::vector<float>{0.5F, -1}));
}

TEST("Arrays of wrong shape, type, count or content are refused with their file") {
  const Files files;
  ASSERT_CONTAINS(message_of(read_npy_dataset("n", 3, files.features, files.labels)),
                  "has label 3, expected 0 to 2");
  ASSERT_CONTAINS(message_of(read_npy_dataset("n", 3, files.labels, files.labels)),
                  "labels.npy has shape [2], expected [samples, features...]");
  ASSERT_CONTAINS(message_of(read_npy_dataset("n", 4, files.features, files.values)),
                  "values.npy has dtype '<f4', expected '<i8'");
  ASSERT_CONTAINS(message_of(read_npy_dataset("n", 0, files.features, files.labels)), "expected '<f4'");
  ASSERT_OK(write_npy(files.labels, std::vector<std::int64_t>{0, 1, 2}, {3}));
  ASSERT_CONTAINS(message_of(read_npy_dataset("n", 4, files.features, files.labels)),
                  "labels.npy has shape [3], the features need [2]");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  ASSERT_OK(write_npy(files.features, std::vector<float>{1, 2, 3, 4, nan, 6}, {2, 3}));
  ASSERT_CONTAINS(message_of(read_npy_dataset("n", 0, files.features, files.values)),
                  "sample 1 has a feature that is not finite");
}
