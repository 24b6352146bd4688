#include <fstream>

#include "core/learning/input_scaling.h"
#include "core/learning/normalisation_statistics.h"
#include "core/learning/table_check.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

ModelDescription machine(std::vector<std::string> names = {"idle", "run"}) {
  ModelDescription model;
  model.name = "m";
  model.input_shape = {2};
  model.output_shape = {2};
  model.class_names = std::move(names);
  return model;
}

struct Checked {
  TemporaryFolder folder;
  DatasetFiles files;
  explicit Checked(const std::string& text) {
    files.features = folder / "t.csv";
    ASSERT_OK(write_file_atomically(files.features, text));
  }
  TableCheck check(const ModelDescription& model = machine()) const {
    auto result = check_table(files, model);
    ASSERT_OK(result);
    return std::move(*result);
  }
};

constexpr const char* kTable =
    "time;temp;power;state\n"
    "18.11.2026;20,5;1;idle\n"
    "18.11.2026;;7;run\n"
    "18.11.2026;-3,25;3;run\n"
    "18.11.2026;22;x;idle\n"
    "18.11.2026;9;2\n"
    "18.11.2026;4;;jump\n";

}  // namespace

TEST("A table's rows, classes, ranges and gaps are counted, and what a board would stop at is named") {
  Checked table(kTable);
  table.files.missing = MissingCells::kSkip;
  const TableCheck check = table.check();
  TEST_ASSERT_EQUAL_size_t(6, check.rows);
  TEST_ASSERT_EQUAL_size_t(2, check.used);
  TEST_ASSERT_EQUAL_CHAR(';', check.delimiter);
  TEST_ASSERT_EQUAL_STRING("state", check.label.c_str());
  TEST_ASSERT_TRUE((check.left_out == std::vector<std::string>{"time"}));
  TEST_ASSERT_EQUAL_size_t(1, check.classes[0].count);
  TEST_ASSERT_EQUAL_STRING("run", check.classes[1].name.c_str());
  TEST_ASSERT_EQUAL_size_t(1, check.classes[1].count);
  TEST_ASSERT_EQUAL_STRING("temp", check.columns[0].name.c_str());
  TEST_ASSERT_EQUAL_DOUBLE(-3.25, check.columns[0].low);
  TEST_ASSERT_EQUAL_DOUBLE(22, check.columns[0].high);
  TEST_ASSERT_EQUAL_size_t(1, check.columns[0].missing);
  TEST_ASSERT_EQUAL_DOUBLE(7, check.columns[1].high);
  TEST_ASSERT_EQUAL_size_t(1, check.columns[1].missing);
  TEST_ASSERT_EQUAL_size_t(3, check.skipped.size());
  TEST_ASSERT_EQUAL_size_t(2, check.skipped[0].count);  // lines 3 and 7: no value comes before the label
  TEST_ASSERT_EQUAL_size_t(3, check.skipped[0].first_line);
  TEST_ASSERT_EQUAL_size_t(5, check.skipped[1].first_line);
  TEST_ASSERT_EQUAL_size_t(6, check.skipped[2].first_line);
  ASSERT_CONTAINS(check.problems[0], "line 5, column 3: 'x' is not a number");
  ASSERT_CONTAINS(check.problems[1], "line 6: 3 columns, expected 4");
  ASSERT_CONTAINS(check.problems[2], "follow = true");
}

TEST("A good table has no problems, and missing cells are one only when nothing says what to do") {
  Checked table("a,b,state\n1,2,idle\n3,,run\n");
  TEST_ASSERT_FALSE(table.check().problems.empty());
  table.files.missing = MissingCells::kMean;
  const TableCheck check = table.check();
  TEST_ASSERT_TRUE(check.problems.empty());
  TEST_ASSERT_EQUAL_size_t(2, check.used);
}

TEST("Labels that the package does not know are listed, with what puts them there") {
  const Checked table("1,2,run\n3,4,idle\n");
  const auto text = [&](const ModelDescription& model) {
    std::string all;
    for (const std::string& problem : table.check(model).problems) all += problem + "\n";
    return all;
  };
  ASSERT_CONTAINS(text(machine({})), "the package has no class names: build it with --labels idle,run");
  ASSERT_CONTAINS(text(machine({"off", "on"})), "labels in the table: idle,run; in the package: off,on");
  ModelDescription three = machine({});
  three.output_shape = {3};
  ASSERT_CONTAINS(text(three), "that are 2 classes, the model has 3");
}

TEST("Columns that cannot be the samples are a problem, and no file is an error") {
  const Checked table("1,2,3,idle\n");
  TEST_ASSERT_EQUAL_size_t(1, table.check().problems.size());
  ASSERT_CONTAINS(table.check().problems[0], "3 features, shape [2] needs 2");
  DatasetFiles none;
  none.features = table.folder / "none.csv";
  TEST_ASSERT_TRUE(check_table(none, machine()).error().kind == ErrorKind::kNotFound);
}

TEST("Scaling is mean and deviation, and a feature that never changes keeps its scale") {
  Dataset data;
  data.sample_shape = {2};
  data.values = {0, 0, 0, 0};
  data.features = std::vector<float>{1e6F, 7, 1e6F + 2, 7, 1e6F, 7, 1e6F + 2, 7};
  const InputScaling scaling = measure_scaling(data);
  TEST_ASSERT_EQUAL_FLOAT(1e6F + 1, scaling.means[0]);
  TEST_ASSERT_EQUAL_FLOAT(1, scaling.deviations[0]);
  TEST_ASSERT_EQUAL_FLOAT(7, scaling.means[1]);
  TEST_ASSERT_EQUAL_FLOAT(1, scaling.deviations[1]);
}

TEST("Calibration samples lie evenly in the table") {
  Dataset data;
  data.sample_shape = {1};
  data.values.resize(10);
  data.features = std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  TEST_ASSERT_TRUE((calibration_features(data, 5) == std::vector<float>{0, 2, 4, 6, 8}));
  TEST_ASSERT_EQUAL_size_t(10, calibration_features(data, 100).size());
}
