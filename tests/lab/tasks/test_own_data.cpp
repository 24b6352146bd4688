#include <set>

#include "core/system/atomic_file.h"
#include "lab/tasks/experiment_data.h"
#include "lab/tasks/own_data.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

ModelDescription two_classes() {
  ModelDescription model;
  model.name = "m";
  model.input_shape = {2};
  model.output_shape = {2};
  model.loss = Loss::kCrossEntropy;
  return model;
}

/// 60 rows of three sites, 20 each.
std::string table(const TemporaryFolder& folder) {
  std::string text = "a,site,b,label\n";
  for (int row = 0; row < 60; ++row) {
    text += std::to_string(row) + "," +
            (row % 3 == 0   ? "north"
             : row % 3 == 1 ? "south"
                            : "east") +
            "," + std::to_string(row * 2) + "," + std::to_string(row % 2) + "\n";
  }
  const auto path = folder / "pumps.csv";
  ASSERT_OK(write_file_atomically(path, text));
  return path.string();
}

}  // namespace

TEST("A table is a data set by its ending, NPY files by the two of them") {
  TEST_ASSERT_TRUE(is_own_data("pumps.csv"));
  TEST_ASSERT_TRUE(is_own_data("data/x.npy:data/y.npy"));
  TEST_ASSERT_FALSE(is_own_data("mnist"));
  TEST_ASSERT_FALSE(is_own_data("x.npy"));
  ASSERT_CONTAINS(message_of(default_settings("pumps")), "unknown data set");
  TEST_ASSERT_EQUAL_STRING("a/pumps.csv", default_settings("a/pumps.csv").value().dataset.c_str());
}

TEST("A fifth of a user's samples is the test part, the same every time") {
  TemporaryFolder folder;
  const std::string path = table(folder);
  const auto columns_out = [&](const char* partition) {
    return load_own_data(path, partition, two_classes());
  };
  const auto one = columns_out("column:site").value();
  TEST_ASSERT_EQUAL_size_t(12, one.test.size());
  TEST_ASSERT_EQUAL_size_t(48, one.train.size());
  TEST_ASSERT_EQUAL_size_t(2, one.train.sample_size());  // the site is not a feature
  TEST_ASSERT_TRUE(one.test.labels == columns_out("column:site").value().test.labels);
}

TEST("Each value in the column of clients is a client, with all its samples and no others") {
  TemporaryFolder folder;
  auto settings = default_settings(table(folder)).value();
  settings.partition = "column:site";
  settings.clients = 3;
  settings.trusted_size = 10;
  const auto source = std::make_shared<const DatasetSplit>(
      load_own_data(settings.dataset, settings.partition, two_classes()).value());
  const auto data = prepare_data(settings, source).value();
  TEST_ASSERT_EQUAL_size_t(3, data.shares.size());
  std::set<std::size_t> used;
  for (const auto& share : data.shares) {
    std::set<int> sites;
    for (const std::size_t i : share) {
      TEST_ASSERT_TRUE(used.insert(i).second);
      std::vector<float> features(2);
      data.train->copy_features(i, features);
      sites.insert(static_cast<int>(features[0]) % 3);
    }
    TEST_ASSERT_EQUAL_size_t(1, sites.size());
  }
  settings.clients = 5;
  ASSERT_CONTAINS(message_of(prepare_data(settings, source)), "has 3 subjects");
}

TEST("Samples can be dealt out evenly, whatever their labels") {
  TemporaryFolder folder;
  auto settings = default_settings(table(folder)).value();
  settings.partition = "iid";
  settings.clients = 6;
  settings.trusted_size = 10;
  const std::string path = settings.dataset;
  auto with_site = load_own_data(path, "column:site", two_classes()).value();
  const auto data =
      prepare_data(settings, std::make_shared<const DatasetSplit>(std::move(with_site))).value();
  for (const auto& share : data.shares) TEST_ASSERT_EQUAL_size_t(8, share.size());
}

TEST("A column that is not there and a partition that does not exist are named") {
  TemporaryFolder folder;
  const std::string path = table(folder);
  ASSERT_CONTAINS(message_of(load_own_data(path, "column:stie", two_classes())), "stie");
  auto settings = default_settings("har").value();
  settings.partition = "column:site";
  TEST_ASSERT_FALSE(validate(settings).ok());
  settings.partition = "random";
  ASSERT_CONTAINS(validate(settings).error().message, "is not iid, label or column:NAME");
}

TEST("Another content is another experiment, whatever the file's name") {
  TemporaryFolder folder;
  const std::string path = table(folder);
  const std::string before = own_data_digest(path).value();
  ASSERT_OK(write_file_atomically(path, "a,b,label\n1,2,0\n"));
  TEST_ASSERT_TRUE(before != own_data_digest(path).value());
}
