#include <fstream>

#include "core/learning/data/idx.h"
#include "core/learning/data/npy.h"
#include "core/learning/dataset_files.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

ModelDescription model(std::vector<std::size_t> input, std::size_t outputs, Loss loss = Loss::kCrossEntropy) {
  ModelDescription description;
  description.name = "m";
  description.input_shape = std::move(input);
  description.output_shape = {outputs};
  description.loss = loss;
  return description;
}

/// Three images of 2 x 2 pixels with labels 0, 1, 2.
DatasetFiles idx_files(const TemporaryFolder& folder) {
  std::vector<std::uint8_t> pixels(12);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i);
  ASSERT_OK(write_idx(folder / "images", {3, 2, 2}, pixels));
  ASSERT_OK(write_idx(folder / "labels", {3}, std::vector<std::uint8_t>{0, 1, 2}));
  return {DatasetFormat::kIdx, folder / "images", folder / "labels", {}, {}, {}};
}

}  // namespace

TEST("Images come in the shape that the model wants, flat or not, divided by 255") {
  const TemporaryFolder folder;
  const DatasetFiles files = idx_files(folder);
  for (const auto& shape : {std::vector<std::size_t>{1, 2, 2}, {2, 2, 1}, {4}}) {
    const auto data = load_dataset(files, model(shape, 3));
    ASSERT_OK(data);
    TEST_ASSERT_TRUE(data->sample_shape == shape);
    float features[4];
    data->copy_features(2, features);
    TEST_ASSERT_EQUAL_FLOAT(11.0F / 255.0F, features[3]);
  }
  ASSERT_CONTAINS(message_of(load_dataset(files, model({1, 4, 1, 2}, 3))),
                  "images holds samples of shape [1, 2, 2], model 'm' needs [1, 4, 1, 2]");
}

TEST("Labels that are not a class of the model are refused") {
  const TemporaryFolder folder;
  ASSERT_CONTAINS(message_of(load_dataset(idx_files(folder), model({4}, 2))), "sample 2 has label 2");
  ASSERT_CONTAINS(message_of(load_dataset(idx_files(folder), model({4}, 1, Loss::kMeanSquaredError))),
                  "IDX files hold class labels");
}

TEST("A range takes a part of the file, and one that reaches over its end is refused") {
  const TemporaryFolder folder;
  DatasetFiles files = idx_files(folder);
  files.range = {1, 2};
  const auto part = load_dataset(files, model({4}, 3));
  ASSERT_OK(part);
  TEST_ASSERT_EQUAL_size_t(2, part->size());
  TEST_ASSERT_EQUAL_INT64(1, part->labels[0]);
  files.range = {2, SampleRange::kAll};
  TEST_ASSERT_EQUAL_size_t(1, load_dataset(files, model({4}, 3))->size());
  files.range = {1, 3};
  ASSERT_CONTAINS(message_of(load_dataset(files, model({4}, 3))),
                  "has 3 samples, first = 1 and count = 3 reach over its end");
  files.range = {3, SampleRange::kAll};
  ASSERT_CONTAINS(message_of(load_dataset(files, model({4}, 3))), "first = 3 leaves none");
}

TEST("Tables take header, label column and range as told") {
  const TemporaryFolder folder;
  std::ofstream(folder / "t.csv") << "kind,a,b\n1,10,11\n0,20,21\n1,30,31\n";
  DatasetFiles files{DatasetFormat::kCsv, folder / "t.csv", {}, CsvHeader::kPresent, "kind", {1, 2}};
  const auto data = load_dataset(files, model({2}, 2));
  ASSERT_OK(data);
  TEST_ASSERT_EQUAL_size_t(2, data->size());
  TEST_ASSERT_EQUAL_INT64(0, data->labels[0]);
  float features[2];
  data->copy_features(1, features);
  TEST_ASSERT_EQUAL_FLOAT(31, features[1]);
  ASSERT_CONTAINS(message_of(load_dataset(files, model({3}, 2))), "2 features, shape [3] needs 3");
  files.range = {1, 9};
  ASSERT_CONTAINS(message_of(load_dataset(files, model({2}, 2))), "has 3 samples");
}

TEST("Arrays hold classes or one value per sample") {
  const TemporaryFolder folder;
  const std::vector<float> features = {1, 2, 3, 4, 5, 6};
  ASSERT_OK(write_npy(folder / "x.npy", features, {3, 2}));
  ASSERT_OK(write_npy(folder / "y.npy", std::vector<std::int64_t>{0, 1, 1}, {3}));
  ASSERT_OK(write_npy(folder / "v.npy", std::vector<float>{0.5F, 1.5F, 2.5F}, {3, 1}));
  DatasetFiles files{DatasetFormat::kNpy, folder / "x.npy", folder / "y.npy", {}, {}, {1, 2}};
  const auto classes = load_dataset(files, model({2}, 2));
  ASSERT_OK(classes);
  TEST_ASSERT_EQUAL_size_t(2, classes->size());
  float row[2];
  classes->copy_features(0, row);
  TEST_ASSERT_EQUAL_FLOAT(3, row[0]);
  files.labels = folder / "v.npy";
  const auto values = load_dataset(files, model({2}, 1, Loss::kMeanSquaredError));
  ASSERT_OK(values);
  TEST_ASSERT_EQUAL_FLOAT(2.5F, values->values[1]);
  ASSERT_CONTAINS(message_of(load_dataset(files, model({2}, 2, Loss::kMeanSquaredError))),
                  "predicts 2 values per sample");
  files.features = folder / "none.npy";
  TEST_ASSERT_TRUE(load_dataset(files, model({2}, 2)).error().kind == ErrorKind::kNotFound);
}

TEST("A model on ids takes bytes, int64 and float32 arrays as they are, and refuses what is not an id") {
  const TemporaryFolder folder;
  ModelDescription ids = model({4}, 3);
  ids.input_type = InputType::kInt64;
  ids.input_ids = 12;
  const auto pixels = load_dataset(idx_files(folder), ids);
  ASSERT_OK(pixels);
  float features[4];
  pixels->copy_features(2, features);
  TEST_ASSERT_EQUAL_FLOAT(11.0F, features[3]);
  ids.input_ids = 11;
  ASSERT_CONTAINS(message_of(load_dataset(idx_files(folder), ids)), "number 3 of sample 2 is 11");

  const DatasetFiles files{DatasetFormat::kNpy, folder / "x.npy", folder / "y.npy", {}, {}, {}};
  ASSERT_OK(write_npy(folder / "y.npy", std::vector<std::int64_t>{0, 2}, {2}));
  ASSERT_OK(write_npy(folder / "x.npy", std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 10}, {2, 4}));
  const auto wide = load_dataset(files, ids);
  ASSERT_OK(wide);
  wide->copy_features(1, features);
  TEST_ASSERT_EQUAL_FLOAT(10.0F, features[3]);
  ASSERT_OK(write_npy(folder / "x.npy", std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 16777217}, {2, 4}));
  ASSERT_CONTAINS(message_of(load_dataset(files, ids)), "x.npy holds 16777217");
  ASSERT_OK(write_npy(folder / "x.npy", std::vector<float>{0, 1, 2, 3, 4, 5, 6, 1.5F}, {2, 4}));
  ASSERT_CONTAINS(message_of(load_dataset(files, ids)), "number 3 of sample 1 is 1.5");
}

TEST("A row of a table with something else than an id is named by line and column") {
  const TemporaryFolder folder;
  ModelDescription ids = model({2}, 3);
  ids.input_type = InputType::kInt64;
  ids.input_ids = 100;
  DatasetFiles files;
  files.features = folder / "rows.csv";
  std::ofstream(files.features) << "a,b,label\n1,99,0\n0,7.0,2\n";
  const auto data = load_dataset(files, ids);
  ASSERT_OK(data);
  TEST_ASSERT_EQUAL_size_t(2, data->size());
  std::ofstream(files.features) << "a,b,label\n1,99,0\n0,100,2\n";
  ASSERT_CONTAINS(message_of(load_dataset(files, ids)),
                  "rows.csv: line 3, column 2: '100' is outside 0 to 99");
  std::ofstream(files.features) << "a,b,label\n1.5,9,0\n";
  ASSERT_CONTAINS(message_of(load_dataset(files, ids)), "line 2, column 1: '1.5' is not a whole number");
}
