// The real program on real packages.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

struct ModelSession {
  testing::TemporaryFolder folder;

  /// `aflguard model ARGUMENTS` in a temporary folder; standard error too, unless `only_results`.
  ProgramOutcome run(const std::string& arguments, bool only_results = false) {
    const std::string program = "'" + testing::program("aflguard") + "'";
    auto outcome = run_program(
        {"sh", "-c", program + " model " + arguments + (only_results ? " 2>/dev/null" : "")}, folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  Json json(const std::string& arguments) { return Json::parse(run(arguments + " --json", true).output); }
  void succeed(const std::string& arguments) {
    const ProgramOutcome outcome = run(arguments);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, outcome.output.c_str());
  }
  /// Exit 1, one line that names `part`.
  void fail(const std::string& arguments, const std::string& part) {
    const ProgramOutcome outcome = run(arguments);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, outcome.exit_code, outcome.output.c_str());
    ASSERT_CONTAINS(outcome.output, part);
    ASSERT_CONTAINS(outcome.output, "aflguard: ");
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, std::ranges::count(outcome.output, '\n'), outcome.output.c_str());
  }

  void floats(const char* name, const std::vector<float>& values, const std::vector<std::size_t>& shape) {
    ASSERT_OK(write_npy(folder / name, values, shape));
  }
  void labels(const char* name, const std::vector<std::int64_t>& values) {
    ASSERT_OK(write_npy(folder / name, values, {values.size()}));
  }
  std::vector<float> read(const char* name) {
    const auto array = read_npy(folder / name);
    ASSERT_OK(array);
    return *array->as_float32(name);
  }

  /// A logistic regression on 2 features and 3 classes, with theta.npy, x.npy [2, 2] and y.npy.
  void make_small() {
    succeed("build --zoo logistic-regression --features 2 --classes 3 -o small");
    succeed("init small --seed 1 -o theta.npy");
    floats("x.npy", {1, 2, 3, 4}, {2, 2});
    labels("y.npy", {0, 2});
  }
};

constexpr const char* kGradient = "gradient small --theta theta.npy --x x.npy --y y.npy -o gradient.npy";

}  // namespace

TEST("The list names the zoo") {
  ModelSession session;
  const Json list = session.json("list");
  TEST_ASSERT_EQUAL_STRING("aflguard.model.list/1", list.at("schema").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_size_t(5, list.at("models").size());
}

TEST("A package is built, described, initialised, and gives gradients and predictions") {
  ModelSession session;
  session.make_small();
  const Json info = session.json("info small");
  TEST_ASSERT_EQUAL_INT(9, info.at("dimension").get<int>());
  TEST_ASSERT_EQUAL_INT(3, info.at("classes").get<int>());
  TEST_ASSERT_EQUAL_STRING("cross-entropy", info.at("loss").get<std::string>().c_str());
  TEST_ASSERT_TRUE((info.at("input_shape") == Json::array({2})));
  TEST_ASSERT_EQUAL_STRING("weight", info.at("parameters").at(0).at("name").get<std::string>().c_str());
  TEST_ASSERT_TRUE((info.at("parameters").at(0).at("shape") == Json::array({3, 2})));
  TEST_ASSERT_EQUAL_INT(6, info.at("parameters").at(1).at("offset").get<int>());
  TEST_ASSERT_EQUAL_size_t(64, info.at("hash").get<std::string>().size());

  const Json result = session.json(kGradient);
  TEST_ASSERT_DOUBLE_WITHIN(1e-6, std::log(3.0), result.at("loss").get<double>());  // theta is zero
  const auto gradient = session.read("gradient.npy");
  const float expected_bias[] = {1.0F / 3 - 0.5F, 1.0F / 3, 1.0F / 3 - 0.5F};
  for (std::size_t i = 0; i < 3; ++i) TEST_ASSERT_FLOAT_WITHIN(1e-6F, expected_bias[i], gradient[6 + i]);

  session.succeed("predict small --theta theta.npy --x x.npy -o logits.npy");
  TEST_ASSERT_EQUAL_size_t(6, session.read("logits.npy").size());
  session.succeed("check small");
}

TEST("Both training graphs of a package give the same gradient") {
  ModelSession session;
  session.succeed("build --zoo cnn --input 1x14x14 -o cnn");
  session.succeed("init cnn --seed 3 -o theta.npy");
  std::vector<float> x(4 * 196);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 31 % 17) / 17.0F;
  session.floats("x.npy", x, {4, 1, 14, 14});
  session.labels("y.npy", {0, 3, 9, 3});
  const std::string run = "gradient cnn --theta theta.npy --x x.npy --y y.npy ";
  session.succeed(run + "--ops standard -o standard.npy");
  session.succeed(run + "--ops fused -o fused.npy");
  const auto standard = session.read("standard.npy");
  const auto fused = session.read("fused.npy");
  float largest = 0;
  for (const float value : standard) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < fused.size(); ++i)
    TEST_ASSERT_FLOAT_WITHIN(1e-5F * largest, standard[i], fused[i]);
}

TEST("A package built with standard operators only has no fused graph to run") {
  ModelSession session;
  session.make_small();
  session.succeed("build --zoo logistic-regression --features 2 --classes 3 --ops standard --force -o small");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "small" / "train_fused.onnx"));
  session.succeed(std::string(kGradient) + " --ops standard");
  session.fail(std::string(kGradient) + " --ops fused", "fused");
}

TEST("One seed always gives the same theta, another seed another") {
  ModelSession session;
  session.succeed("build --zoo cnn --input 1x12x12 -o cnn");
  session.succeed("init cnn --seed 7 -o a.npy");
  session.succeed("init cnn --seed 7 -o b.npy");
  session.succeed("init cnn --seed 8 -o c.npy");
  TEST_ASSERT_TRUE(session.read("a.npy") == session.read("b.npy"));
  TEST_ASSERT_FALSE(session.read("a.npy") == session.read("c.npy"));
}

TEST("Regression takes targets as [B] and as [B, 1]") {
  ModelSession session;
  session.succeed("build --zoo linear-regression --features 2 -o small");
  session.floats("theta.npy", {1, 1}, {2});
  session.floats("x.npy", {1, 2, 3, 4}, {2, 2});
  for (const auto& shape : std::vector<std::vector<std::size_t>>{{2}, {2, 1}}) {
    session.floats("y.npy", {2, 5}, shape);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 2.5,
                              session.json(kGradient).at("loss").get<double>());  // (1^2 + 2^2) / 2
    const auto gradient = session.read("gradient.npy");
    TEST_ASSERT_EQUAL_FLOAT(7.0F, gradient[0]);  // mean of 2 * residual * x
  }
  session.floats("y.npy", {2, 5, 1, 1}, {2, 2});
  session.fail(kGradient, "[2, 1]");
}

TEST("Arrays of another shape or type are refused with what they are and what is wanted") {
  ModelSession session;
  session.make_small();
  session.floats("x.npy", {1, 2, 3}, {1, 3});
  session.fail(kGradient, "x.npy has shape [1, 3], the model wants [B, 2]");
  session.floats("x.npy", {}, {0, 2});
  session.fail(kGradient, "no samples");
  session.floats("x.npy", {1, 2, 3, 4}, {2, 2});
  session.floats("y.npy", {0, 1}, {2});
  session.fail(kGradient, "'<f4'");
  session.labels("y.npy", {0, 1, 2});
  session.fail(kGradient, "[3]");
  session.labels("y.npy", {0, 3});
  session.fail(kGradient, "label 3 of sample 1");
  session.labels("y.npy", {-1, 0});
  session.fail(kGradient, "label -1");
  session.floats("theta.npy", std::vector<float>(8), {8});
  session.fail(kGradient, "[9]");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "gradient.npy"));
}

TEST("A theta of another model is refused by its layout, even if the size fits") {
  ModelSession session;
  session.make_small();
  session.succeed("build --zoo linear-regression --features 9 -o other");
  session.succeed("init other -o theta.npy");
  session.fail(kGradient, "another model");
}

TEST("A damaged package is refused with the file's name") {
  ModelSession session;
  session.make_small();
  ASSERT_OK(write_file_atomically(session.folder / "small" / "train.onnx", "damaged"));
  session.fail("info small", "train.onnx");
  session.fail("info nowhere", "nowhere");
}

TEST("Building refuses what cannot be, and leaves nothing behind") {
  ModelSession session;
  ASSERT_OK(write_file_atomically(session.folder / "broken.onnx", "not a model"));
  session.fail("build --onnx broken.onnx --loss mse -o made", "broken.onnx");
  session.fail("build --onnx missing.onnx --loss mse -o made", "missing.onnx");
  session.fail("build --zoo cnn --features 3 -o made", "--input");
  session.fail("build --zoo cnn --input 1x64 -o made", "CxHxW");
  session.fail("build --zoo cnn --loss mse -o made", "cross-entropy");
  session.fail("build --onnx broken.onnx --loss mse --classes 3 -o made", "--zoo");
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(session.folder.path())) ++left;
  TEST_ASSERT_EQUAL_size_t(1, left);
  session.succeed("build --zoo linear-regression -o made");
  session.fail("build --zoo linear-regression -o made", "made");
  session.succeed("build --zoo linear-regression --force -o made");
}

TEST("A misspelt verb is named") {
  ModelSession session;
  const ProgramOutcome outcome = session.run("biuld");
  TEST_ASSERT_EQUAL_INT(2, outcome.exit_code);
  ASSERT_CONTAINS(outcome.output, "'biuld'");
}

TEST("An ONNX Runtime that is missing or too old is one line that says what to do, and leaves nothing") {
  ModelSession session;
  session.make_small();
  for (const char* library : {"/nonexistent/libonnxruntime.so.1", AFLGUARD_OLD_ONNXRUNTIME}) {
    ::setenv("AFLGUARD_ONNXRUNTIME", library, 1);
    session.fail(kGradient, "set AFLGUARD_ONNXRUNTIME");
    session.fail(kGradient, library);
    ::unsetenv("AFLGUARD_ONNXRUNTIME");
    TEST_ASSERT_FALSE(fs::exists(session.folder / "gradient.npy"));
  }
}

TEST("A wrong command line is exit 2, help is exit 0 with an example") {
  ModelSession session;
  for (const char* wrong :
       {"", "build -o x", "build --zoo nothing -o x", "build --zoo cnn", "build --onnx f.onnx -o x",
        "build --zoo cnn --onnx f.onnx --loss mse -o x", "gradient x", "check x --ops other"}) {
    TEST_ASSERT_EQUAL_INT_MESSAGE(2, session.run(wrong).exit_code, wrong);
  }
  for (const char* verb : {"list", "build", "info", "init", "gradient", "predict", "check"}) {
    const ProgramOutcome help = session.run(std::string(verb) + " --help");
    TEST_ASSERT_EQUAL_INT(0, help.exit_code);
    ASSERT_CONTAINS(help.output, "Example");
  }
}

TEST("Class names and scaling go into the package, and names that do not fit are refused") {
  ModelSession session;
  ASSERT_OK(
      write_file_atomically(session.folder / "t.csv", std::string_view("a,b,state\n1,10,idle\n3,30,run\n")));
  const std::string build = "build --zoo logistic-regression --features 2 --classes 2 ";
  session.succeed(build + "--labels idle,run --standardise t.csv -o small");
  const Json info = session.json("info small");
  TEST_ASSERT_TRUE((info.at("class_names") == Json::array({"idle", "run"})));
  TEST_ASSERT_TRUE((info.at("scaling").at("means") == Json::array({2.0, 20.0})));
  TEST_ASSERT_TRUE((info.at("scaling").at("deviations") == Json::array({1.0, 10.0})));
  session.succeed(build + "-o plain");
  TEST_ASSERT_FALSE(session.json("info plain").contains("class_names"));
  TEST_ASSERT_FALSE(session.json("info plain").at("hash") == info.at("hash"));
  session.fail(build + "--labels idle -o other", "1 class names, the model has 2 classes");
  session.fail(build + "--labels off,on --standardise t.csv -o other", "'idle' is not one of off, on");
}

TEST("An export with batch normalisation needs samples, from the package or the command line") {
  ModelSession session;
  const std::string build = "build --zoo resnet20 --input 1x8x8 --classes 3 ";
  session.succeed(build + "-o bare");
  session.succeed("init bare --seed 1 -o theta.npy");
  session.fail("export bare --theta theta.npy -o m.onnx", "--statistics FILE");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "m.onnx"));
  std::vector<float> x(300 * 64);
  std::string table;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i * 31 % 17) / 17.0F;
    table += std::to_string(x[i]) + (i % 64 == 63 ? "," + std::to_string(i / 64 % 3) + "\n" : ",");
  }
  session.floats("x.npy", x, {300, 1, 8, 8});
  ASSERT_OK(write_file_atomically(session.folder / "x.csv", table));
  session.succeed("export bare --theta theta.npy --statistics x.csv -o a.onnx");
  session.succeed(build + "--calibration x.npy -o own");
  TEST_ASSERT_EQUAL_INT(256, session.json("info own").at("calibration_samples").get<int>());
  TEST_ASSERT_TRUE(session.json("info own").at("hash") == session.json("info bare").at("hash"));
  session.succeed("export own --theta theta.npy -o b.onnx");
}
