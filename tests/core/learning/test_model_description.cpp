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

TEST("A changed manifest is refused by its hash") {
  const std::string text = replaced(manifest_json(small_model()), "\"bias\"", "\"bios\"");
  ASSERT_CONTAINS(testing::message_of(parse_manifest(text)), "the file was changed");
}

TEST("A gap in the layout, another version, and text that is not a manifest are refused by name") {
  const std::string text = manifest_json(small_model());
  ASSERT_CONTAINS(testing::message_of(parse_manifest(replaced(text, "\"offset\": 6", "\"offset\": 7"))),
                  "'bias' starts at 7, expected 6");
  ASSERT_CONTAINS(testing::message_of(parse_manifest(replaced(text, "\"version\": 1", "\"version\": 2"))),
                  "this program reads version 1");
  ASSERT_CONTAINS(testing::message_of(parse_manifest("{}")), "not a model package");
  ASSERT_CONTAINS(testing::message_of(parse_manifest("{")), "not a JSON object");
}
