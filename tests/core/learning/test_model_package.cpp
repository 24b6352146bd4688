#include "core/learning/model_package.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;

namespace {

ModelPackage small_package() {
  ModelPackage package;
  package.description.name = "small";
  package.description.parameters = {{"weight", {3}, 0, Initializer::kUniform, 0.5},
                                    {"scale", {2}, 3, Initializer::kOne, 0},
                                    {"bias", {2}, 5, Initializer::kStored, 0}};
  package.description.input_shape = {3};
  package.description.output_shape = {2};
  package.description.hash = layout_hash(package.description);
  package.train_graph = "train";
  package.eval_graph = "eval";
  package.initial = {0, 0, 0, 0, 0, 8, 9};
  return package;
}

}  // namespace

TEST("A package reads back as it was written") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_model_package(small_package(), folder / "p"));
  const auto read = read_model_package(folder / "p");
  ASSERT_OK(read);
  TEST_ASSERT_TRUE(read->description == small_package().description);
  TEST_ASSERT_TRUE(read->train_graph == "train" && read->eval_graph == "eval");
  TEST_ASSERT_TRUE(read->fused_train_graph.empty());
  TEST_ASSERT_TRUE(read->initial == small_package().initial);
}

TEST("One changed or missing byte in any file of a package is found and the file named") {
  for (const char* name : {"train.onnx", "eval.onnx", "initial.npy"}) {
    const testing::TemporaryFolder folder;
    ASSERT_OK(write_model_package(small_package(), folder / "p"));
    const fs::path file = folder / "p" / name;
    auto bytes = *read_file(file);
    bytes.back() ^= std::byte{1};
    ASSERT_OK(write_file_atomically(file, bytes));
    ASSERT_CONTAINS(testing::message_of(read_model_package(folder / "p")), name);
    bytes.pop_back();
    ASSERT_OK(write_file_atomically(file, bytes));
    ASSERT_CONTAINS(testing::message_of(read_model_package(folder / "p")), name);
    fs::remove(file);
    ASSERT_CONTAINS(testing::message_of(read_model_package(folder / "p")), name);
  }
}

TEST("Replacing a package keeps its hands off everything else") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_model_package(small_package(), folder / "p"));
  ASSERT_OK(write_model_package(small_package(), folder / "p", /*replace=*/true));
  fs::create_directory(folder / "photos");
  ASSERT_OK(write_file_atomically(folder / "photos" / "cat", "precious"));
  for (const fs::path& target : {folder / "photos", folder / "photos" / "cat"}) {
    ASSERT_CONTAINS(testing::message_of(write_model_package(small_package(), target, /*replace=*/true)),
                    "is not a model package");
  }
  TEST_ASSERT_TRUE(fs::is_regular_file(folder / "photos" / "cat"));
}

TEST("A manifest that is not JSON object is refused with what to do") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_model_package(small_package(), folder / "p"));
  for (const char* content : {"", "[]", "7", "{"}) {
    ASSERT_OK(write_file_atomically(folder / "p" / "manifest.json", content));
    ASSERT_CONTAINS(testing::message_of(read_model_package(folder / "p")), "build the package again");
  }
}

TEST("A folder without a manifest is named with the command that makes a package") {
  const testing::TemporaryFolder folder;
  ASSERT_CONTAINS(testing::message_of(read_model_package(folder.path())), "aflguard model build");
}

TEST("Every truncation of the manifest is an error, never a crash") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_model_package(small_package(), folder / "p"));
  const auto whole = *read_text_file(folder / "p/manifest.json");
  for (std::size_t length = 0; length + 2 < whole.size(); ++length) {
    ASSERT_OK(write_file_atomically(folder / "p/manifest.json", std::string_view(whole).substr(0, length)));
    TEST_ASSERT_FALSE(read_model_package(folder / "p").ok());
  }
}

TEST("The first theta follows the manifest and the seed") {
  const auto theta = initial_theta(small_package(), 1);
  ASSERT_OK(theta);
  for (std::size_t i = 0; i < 3; ++i) TEST_ASSERT_FLOAT_WITHIN(0.5F, 0, (*theta)[i]);
  TEST_ASSERT_EQUAL_FLOAT(1, (*theta)[3]);
  TEST_ASSERT_EQUAL_FLOAT(9, (*theta)[6]);
  TEST_ASSERT_TRUE(*initial_theta(small_package(), 1) == *theta);
  TEST_ASSERT_TRUE(*initial_theta(small_package(), 2) != *theta);
}

TEST("A stored start without stored values is an error") {
  ModelPackage package = small_package();
  package.initial.clear();
  ASSERT_CONTAINS(testing::message_of(initial_theta(package, 1)), "'bias'");
}
