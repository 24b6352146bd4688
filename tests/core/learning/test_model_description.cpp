#include "core/learning/model_description.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

ModelDescription small_model() {
  ModelDescription model;
  model.name = "small";
  model.parameters = {{"weight", {2, 3}, 0, Initializer::kUniform, 0.5},
                      {"bias", {2}, 6, Initializer::kZero, 0}};
  model.input_shape = {3};
  model.output_shape = {2};
  model.opset = 13;
  model.hash = layout_hash(model);
  return model;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  TEST_ASSERT_TRUE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST("A manifest reads back as the description it was written from") {
  const auto read = parse_manifest(manifest_json(small_model()));
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read == small_model());
  TEST_ASSERT_EQUAL_size_t(8, read->dimension());
  TEST_ASSERT_EQUAL_size_t(2, read->classes());
}

TEST("The hash depends on names, shapes and loss, not on the model's name or how it starts") {
  ModelDescription other = small_model();
  other.name = "renamed";
  other.parameters[0].bound = 0.1;
  TEST_ASSERT_TRUE(layout_hash(other) == small_model().hash);
  other.loss = Loss::kMeanSquaredError;
  TEST_ASSERT_TRUE(layout_hash(other) != small_model().hash);
  other = small_model();
  other.parameters[1].name = "offset";
  TEST_ASSERT_TRUE(layout_hash(other) != small_model().hash);
}

TEST("The function changes the hash; packages from before it keep theirs") {
  TEST_ASSERT_EQUAL_STRING("ceab615d1b1e6d44", small_model().hash.substr(0, 16).c_str());
  ModelDescription model = small_model();
  model.function = std::string(64, 'a');
  model.hash = layout_hash(model);
  TEST_ASSERT_FALSE(model.hash == small_model().hash);
  const std::string text = manifest_json(model);
  ASSERT_CONTAINS(text, "\"version\": 3,");
  const auto read = parse_manifest(text);
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read == model);
  const std::string function = "\"function\": \"" + model.function + "\"";
  ASSERT_CONTAINS(testing::message_of(parse_manifest(replaced(text, function, "\"function\": \"aa\""))),
                  "function is 'aa', expected 64 hexadecimal digits");
  ASSERT_CONTAINS(testing::message_of(parse_manifest(
                      replaced(text, function, "\"function\": \"" + std::string(64, 'b') + "\""))),
                  "the file was changed");
}

TEST("A changed manifest is refused by its hash") {
  const std::string text = replaced(manifest_json(small_model()), "\"bias\"", "\"bios\"");
  ASSERT_CONTAINS(testing::message_of(parse_manifest(text)), "the file was changed");
}

TEST("A gap in the layout, another version, and text that is not a manifest are refused by name") {
  const std::string text = manifest_json(small_model());
  ASSERT_CONTAINS(testing::message_of(parse_manifest(replaced(text, "\"offset\": 6", "\"offset\": 7"))),
                  "'bias' starts at 7, expected 6");
  ASSERT_CONTAINS(testing::message_of(parse_manifest(replaced(text, "\"version\": 1", "\"version\": 4"))),
                  "this program reads versions 1 to 3");
  ASSERT_CONTAINS(testing::message_of(parse_manifest("{}")), "not a model package");
  ASSERT_CONTAINS(testing::message_of(parse_manifest("{")), "not a JSON object");
}

TEST("A manifest says that samples hold ids, in a version that older programs refuse") {
  ModelDescription ids = small_model();
  TEST_ASSERT_TRUE(manifest_json(ids).find("input_type") == std::string::npos);
  ASSERT_CONTAINS(manifest_json(ids), "\"version\": 1,");
  ids.input_type = InputType::kInt64;
  ids.input_ids = 1000;
  const std::string text = manifest_json(ids);
  ASSERT_CONTAINS(text, "\"version\": 2,");
  const auto read = parse_manifest(text);
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read == ids);
  for (const char* limit : {"0", "-1", "16777217"}) {
    const auto refused =
        parse_manifest(replaced(text, "\"input_ids\": 1000", "\"input_ids\": " + std::string(limit)));
    ASSERT_CONTAINS(aflguard::testing::message_of(refused), "input_ids is " + std::string(limit));
  }
  ASSERT_OK(parse_manifest(replaced(text, "\"input_ids\": 1000", "\"input_ids\": 16777216")));
  ASSERT_CONTAINS(aflguard::testing::message_of(parse_manifest(replaced(text, "\"int64\"", "\"int8\""))),
                  "input_type is 'int8'");
  ASSERT_CONTAINS(
      aflguard::testing::message_of(parse_manifest(replaced(text, "\"version\": 2", "\"version\": 4"))),
      "version 4");
}

TEST("Ids are whole numbers below the limit; a model on numbers takes any") {
  ModelDescription model = small_model();
  const std::vector<float> odd{0, 1, 2, 3, 0.5F, 2};
  ASSERT_OK(check_input_ids(model, odd, "x"));
  model.input_type = InputType::kInt64;
  model.input_ids = 4;
  ASSERT_OK(check_input_ids(model, std::vector<float>{0, 1, 2, 3, 0, 2}, "x"));
  const auto refused = check_input_ids(model, odd, "x.npy");
  TEST_ASSERT_FALSE(refused.ok());
  ASSERT_CONTAINS(refused.error().message, "x.npy: number 1 of sample 1 is 0.5, model 'small'");
  TEST_ASSERT_FALSE(check_input_ids(model, std::vector<float>{0, 1, 4}, "x").ok());
  TEST_ASSERT_FALSE(check_input_ids(model, std::vector<float>{0, 1, -1}, "x").ok());
}

TEST("Class names, scaling and statistics read back, and the first two change what theta means") {
  ModelDescription model = small_model();
  model.class_names = {"idle", "run"};
  model.scaling = {{0.1F, -2, 3e-7F}, {1, 0.3F, 1e-3F}};
  model.statistics = 12;
  model.hash = layout_hash(model);
  const auto read = parse_manifest(manifest_json(model));
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(*read == model);
  TEST_ASSERT_EQUAL_STRING("run", read->class_name(1).c_str());
  TEST_ASSERT_EQUAL_STRING("1", small_model().class_name(1).c_str());
  ModelDescription other = model;
  other.class_names = {"run", "idle"};
  TEST_ASSERT_FALSE(layout_hash(other) == model.hash);
  other = model;
  other.scaling.means[0] = 0.2F;
  TEST_ASSERT_FALSE(layout_hash(other) == model.hash);
  other = model;
  other.statistics = 0;
  TEST_ASSERT_TRUE(layout_hash(other) == model.hash);
}

TEST("Names and scaling that do not fit the model are refused") {
  const auto problem = [](std::vector<std::string> names, InputScaling scaling) {
    ModelDescription model = small_model();
    model.class_names = std::move(names);
    model.scaling = std::move(scaling);
    return testing::message_of(check_names_and_scaling(model));
  };
  ASSERT_CONTAINS(problem({"a"}, {}), "1 class names, the model has 2 classes");
  ASSERT_CONTAINS(problem({"a", "a"}, {}), "two classes have the name 'a'");
  for (const char* bad : {"", "a,b", "\"a\"", " a", "a\n"})
    ASSERT_CONTAINS(problem({"x", bad}, {}), "must be 1 to 64");
  TEST_ASSERT_EQUAL_STRING("(no error)", problem({"x", std::string(64, 'y')}, {}).c_str());
  ASSERT_CONTAINS(problem({"x", std::string(65, 'y')}, {}), "must be 1 to 64 bytes");
  ASSERT_CONTAINS(problem({}, {{1, 2}, {1, 1}}), "2 means and 2 deviations, the model has 3 features");
  ASSERT_CONTAINS(problem({}, {{1, 2, 3}, {1, 0, 1}}), "above 0");
}
