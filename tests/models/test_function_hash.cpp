#include "tests/models/gradient_cases.h"

using namespace aflguard;
using namespace aflguard::models;
using namespace aflguard::models::testing;

namespace {

std::string hash_of(const FileBuilder& file) {
  const auto built = build(file.model, Loss::kMeanSquaredError);
  ASSERT_OK(built);
  TEST_ASSERT_EQUAL_size_t(64, built->package.description.function.size());
  TEST_ASSERT_EQUAL_STRING(layout_hash(built->package.description).c_str(),
                           built->package.description.hash.c_str());
  return built->package.description.hash;
}

/// One hidden layer with the given activation.
FileBuilder hidden(const std::string& activation, Attributes attributes = {}) {
  FileBuilder file({4});
  file.weight("first", {4, 3}).weight("second", {3, 2});
  file.node("MatMul", {"x", "first"}, "h").node(activation, {"h"}, "a", std::move(attributes));
  return file.node("MatMul", {"a", "second"}, "out");
}

FileBuilder clipped(float upper) {
  FileBuilder file({4});
  file.weight("w", {4, 2}).node("MatMul", {"x", "w"}, "h");
  file.model.initializers.push_back({"low", float_tensor({0}, {})});
  file.model.initializers.push_back({"high", float_tensor({upper}, {})});
  return file.node("Clip", {"h", "low", "high"}, "out");
}

FileBuilder normalised(float epsilon, float stored_mean) {
  FileBuilder file({2});
  file.model.initializers.push_back({"gamma", float_tensor({1, 1}, {2})});
  file.model.initializers.push_back({"beta", float_tensor({0, 0}, {2})});
  file.model.initializers.push_back({"mean", float_tensor({stored_mean, 2}, {2})});
  file.model.initializers.push_back({"variance", float_tensor({4, 9}, {2})});
  return file.node("BatchNormalization", {"x", "gamma", "beta", "mean", "variance"}, "out",
                   {{"epsilon", epsilon}});
}

}  // namespace

TEST("Networks of one shape with other activations, or other attributes of one, have different hashes") {
  TEST_ASSERT_TRUE(hash_of(hidden("Relu")) == hash_of(hidden("Relu")));
  TEST_ASSERT_FALSE(hash_of(hidden("Relu")) == hash_of(hidden("Tanh")));
  const auto leaky = [](float slope) { return hash_of(hidden("LeakyRelu", {{"alpha", slope}})); };
  TEST_ASSERT_TRUE(leaky(0.1F) == leaky(0.1F));
  TEST_ASSERT_FALSE(leaky(0.1F) == leaky(0.2F));
}

TEST("Constants that are not trained change the hash, first values of parameters do not") {
  TEST_ASSERT_FALSE(hash_of(clipped(6)) == hash_of(clipped(5)));
  FileBuilder other = hidden("Relu");
  other.model.initializers[0].tensor = float_tensor(std::vector<float>(12, 0.25F), {4, 3});
  TEST_ASSERT_TRUE(hash_of(other) == hash_of(hidden("Relu")));
}

TEST("The wiring changes the hash: which parameter is used where, and in which order") {
  const auto two = [](const char* first, const char* second) {
    FileBuilder file({3});
    file.weight("v", {3, 3}).weight("w", {3, 3});
    return hash_of(
        file.node("MatMul", {"x", first}, "h").node("Tanh", {"h"}, "a").node("MatMul", {"a", second}, "out"));
  };
  TEST_ASSERT_FALSE(two("v", "w") == two("w", "v"));
  const auto difference = [](Value left, Value right) {
    FileBuilder file({3});
    file.weight("w", {3, 3}).node("MatMul", {"x", "w"}, "h");
    return hash_of(file.node("Sub", {std::move(left), std::move(right)}, "out"));
  };
  TEST_ASSERT_FALSE(difference("h", "x") == difference("x", "h"));
}

TEST("Names of values and nodes, their order and what the output does not need leave the hash as it is") {
  const auto branches = [](const char* left, const char* right, bool swapped, bool idle) {
    FileBuilder file({3});
    file.weight("v", {3, 3}).weight("w", {3, 3});
    const auto add_left = [&] { file.node("MatMul", {"x", "v"}, left); };
    const auto add_right = [&] { file.node("MatMul", {"x", "w"}, right); };
    if (swapped) add_right();
    add_left();
    if (!swapped) add_right();
    if (idle) file.node("Relu", {left}, "idle");
    return hash_of(file.node("Sub", {left, right}, "out"));
  };
  const std::string plain = branches("a", "b", false, false);
  TEST_ASSERT_TRUE(plain == branches("one", "another", false, false));
  TEST_ASSERT_TRUE(plain == branches("a", "b", true, false));
  TEST_ASSERT_TRUE(plain == branches("a", "b", false, true));
}

TEST("Batch normalisation: its epsilon is part of the function, its stored statistics are not") {
  TEST_ASSERT_FALSE(hash_of(normalised(1e-3F, 1)) == hash_of(normalised(1e-5F, 1)));
  TEST_ASSERT_TRUE(hash_of(normalised(1e-3F, 1)) == hash_of(normalised(1e-3F, 7)));
}

TEST("A package with fused operators has the hash of the one without") {
  const auto model = import_model(hidden("Relu").model, standard_operators(), {});
  ASSERT_OK(model);
  const auto standard = build_package(*model, {Loss::kMeanSquaredError, OpsFlavor::kStandard});
  const auto fused = build_package(*model, {Loss::kMeanSquaredError, OpsFlavor::kFused});
  ASSERT_OK(standard);
  ASSERT_OK(fused);
  TEST_ASSERT_TRUE(standard->package.description.hash == fused->package.description.hash);
}
