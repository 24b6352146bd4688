// The real program: the lab on synthetic data, and what it says about wrong input.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

struct LabSession {
  testing::TemporaryFolder folder;

  /// `aflguard ARGUMENTS` in the session's folder, with no data set installed.
  ProgramOutcome run(const std::string& arguments, bool only_results = false) {
    const std::string program = testing::program("aflguard");
    auto outcome = run_program({"env", "AFLGUARD_DATA=" + (folder / "data").string(), "sh", "-c",
                                program + " " + arguments + (only_results ? " 2>/dev/null" : "")},
                               folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  Json json(const std::string& arguments) {
    const auto outcome = run(arguments + " --json", true);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, outcome.output.c_str());
    return Json::parse(outcome.output);
  }
  std::string file(const std::string& name) { return read_text_file(folder / name).value(); }
};

void assert_succeeded(const ProgramOutcome& outcome) {
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, outcome.output.c_str());
}

void assert_refused(const ProgramOutcome& outcome, const char* part, int line) {
  TEST_ASSERT_EQUAL_INT_MESSAGE(1, outcome.exit_code, outcome.output.c_str());
  testing::assert_contains(outcome.last_line(), part, line);
  testing::assert_contains(outcome.last_line(), "aflguard: ", line);
}
#define ASSERT_REFUSED(arguments, part) assert_refused(session.run(arguments), part, __LINE__)

}  // namespace

TEST("One run prints every field that scripts rely on") {
  LabSession session;
  const Json run = session.json("lab run --dataset synthetic --guard aflguard --attack gd --seed 11");
  TEST_ASSERT_TRUE(run.at("schema") == "aflguard.lab.run/1");
  TEST_ASSERT_TRUE(run.at("test_error").is_null());
  TEST_ASSERT_TRUE(run.at("attack_success").is_null());
  TEST_ASSERT_TRUE(run.at("mee").get<double>() < 0.26);
  const double mse = run.at("mse").get<double>();
  TEST_ASSERT_DOUBLE_WITHIN(1e-12, mse / 32, run.at("mse_paper_scale").get<double>());
  TEST_ASSERT_EQUAL_INT(0, run.at("accepted").at("malicious").get<int>());
  TEST_ASSERT_EQUAL_INT(
      2000, run.at("accepted").at("benign").get<int>() + run.at("rejected").at("malicious").get<int>());
  TEST_ASSERT_EQUAL_INT(0, run.at("rejected").at("benign").get<int>());
  TEST_ASSERT_EQUAL_INT(2000, run.at("iterations").get<int>());
  TEST_ASSERT_EQUAL_INT(11, run.at("seed").get<int>());
  TEST_ASSERT_TRUE(run.at("seconds").get<double>() > 0);
  TEST_ASSERT_TRUE(run.at("settings").at("lambda") == 1.5);
  TEST_ASSERT_TRUE(run.at("context").contains("onnxruntime"));
}

TEST("The same seed gives the same run, apart from the seconds") {
  LabSession session;
  Json one = session.json("lab run --dataset synthetic --attack lf --seed 5 --iterations 300");
  Json two = session.json("lab run --dataset synthetic --attack lf --seed 5 --iterations 300");
  for (Json* each : {&one, &two}) {
    each->erase("seconds");
    each->erase("judging_seconds");
  }
  TEST_ASSERT_TRUE(one == two);
}

TEST("The whole paper's table 1 gives bit-identical files with one job and with two") {
  LabSession session;
  assert_succeeded(session.run("lab table 1 --seeds 1 --iterations 100 --jobs 1 -o one"));
  const auto two = session.run("lab table 1 --seeds 1 --iterations 100 --jobs 2 -o two");
  assert_succeeded(two);
  ASSERT_CONTAINS(two.output, "wrote two/report.html");
  for (const char* name : {"results.json", "results.csv", "report.html"}) {
    TEST_ASSERT_TRUE_MESSAGE(
        session.file(std::string("one/") + name) == session.file(std::string("two/") + name), name);
  }
}

TEST("A table that is killed continues and ends with the same results") {
  LabSession session;
  assert_succeeded(session.run("lab table 1 --seeds 2 --jobs 2 --iterations 400 -o whole"));
  // Kills it as soon as a few runs are stored, whenever that is on this machine; one job, so that a busy
  // machine cannot end it before anybody looks.
  const std::string program = testing::program("aflguard");
  const auto killed = run_program(
      {"sh", "-c",
       program +
           " lab table 1 --seeds 2 --jobs 1 --iterations 400 -o pieces 2>/dev/null & pid=$!\n"
           "while [ \"$(ls pieces/runs 2>/dev/null | wc -l)\" -lt 3 ]; do kill -0 $pid || exit 3; done\n"
           "kill -9 $pid; wait $pid; ls pieces/runs | grep -c 'json$'"},
      session.folder.path());
  ASSERT_OK(killed);
  const int stored = std::atoi(killed->last_line().c_str());
  TEST_ASSERT_TRUE_MESSAGE(stored >= 2 && stored < 50, killed->output.c_str());
  TEST_ASSERT_FALSE(fs::exists(session.folder / "pieces" / "results.json"));
  const auto again = session.run("lab table 1 --seeds 2 --jobs 2 --iterations 400 -o pieces");
  assert_succeeded(again);
  ASSERT_CONTAINS(again.output, "continuing: ");
  TEST_ASSERT_TRUE(session.file("whole/results.json") == session.file("pieces/results.json"));
}

TEST("A folder with results of other settings is refused and left as it was") {
  LabSession session;
  assert_succeeded(session.run("lab table 1 --seeds 1 --iterations 50 -o x"));
  const std::string before = session.file("x/results.json");
  ASSERT_REFUSED("lab table 1 --seeds 1 --iterations 51 -o x", "with other settings; choose another output");
  ASSERT_REFUSED("lab figure lambda --dataset synthetic --iterations 50 -o x", "holds results of table-1");
  TEST_ASSERT_TRUE(before == session.file("x/results.json"));
}

TEST("A figure draws one curve per guard for every attack") {
  LabSession session;
  const auto figure =
      session.run("lab figure server-delay --dataset synthetic --iterations 40 --seeds 1 -o delays");
  assert_succeeded(figure);
  const std::string html = session.file("delays/report.html");
  std::size_t curves = 0;
  for (auto at = html.find("<polyline"); at != std::string::npos; at = html.find("<polyline", at + 1))
    ++curves;
  TEST_ASSERT_EQUAL_size_t(5 * 2, curves);
}

TEST("Wrong names are answered with the nearest that exists") {
  LabSession session;
  ASSERT_REFUSED("lab run --dataset minst", "unknown data set 'minst'; did you mean 'mnist'?");
  ASSERT_REFUSED("lab run --dataset synthetic --guard aflgard",
                 "unknown guard 'aflgard'; did you mean 'aflguard'?");
  ASSERT_REFUSED("lab run --dataset synthetic --attack adapt-revers", "did you mean 'adapt-reverse'?");
  ASSERT_REFUSED("lab table 2z", "unknown table '2z'");
  ASSERT_REFUSED("lab figure lamda", "did you mean 'lambda'?");
  ASSERT_REFUSED("lab run --dataset synthetic --guard basgd --guard-option bufers=3", "'buffers'");
  ASSERT_REFUSED("lab run --dataset synthetic --guard-option five", "NAME=NUMBER");
}

TEST("The options' earlier names still work, and help does not show them") {
  LabSession session;
  const std::string run = "lab run --dataset synthetic --iterations 40 ";
  Json now = session.json(run + "--guard basgd --guard-option buffers=2");
  Json before = session.json(run + "--defense basgd --defense-option buffers=2");
  for (Json* each : {&now, &before}) {
    each->erase("seconds");
    each->erase("judging_seconds");
  }
  TEST_ASSERT_TRUE(now == before);
  TEST_ASSERT_TRUE(now.at("settings").at("defense") == "basgd");
  TEST_ASSERT_TRUE(now.at("settings").at("defense_options").at("buffers") == 2);
  const std::string help = session.run("lab run --help").output;
  ASSERT_CONTAINS(help, "--guard-option");
  TEST_ASSERT_TRUE(help.find("defense") == std::string::npos);
}

TEST("A table is run with another guard when asked, which the paper need not have") {
  LabSession session;
  assert_succeeded(session.run("lab table 1 --guard span-guard --seeds 1 --iterations 20 -o other"));
  const std::string csv = session.file("other/results.csv");
  ASSERT_CONTAINS(csv, "span-guard");
  TEST_ASSERT_TRUE(csv.find("kardam") == std::string::npos);
  ASSERT_REFUSED("lab table 1 --guard spam-guard", "unknown guard 'spam-guard'");
}

TEST("Numbers out of range are refused with the range") {
  LabSession session;
  ASSERT_REFUSED("lab run --dataset synthetic --malicious 1.5", "the malicious fraction is 1.5");
  ASSERT_REFUSED("lab run --dataset synthetic --malicious -0.1", "the malicious fraction is -0.1");
  ASSERT_REFUSED("lab run --dataset synthetic --lambda 0", "lambda");
  ASSERT_REFUSED("lab run --dataset synthetic --iterations 0", "iterations");
  ASSERT_REFUSED("lab run --dataset synthetic --clients 0", "clients");
  ASSERT_REFUSED("lab run --dataset synthetic --attack bd", "regression");
  TEST_ASSERT_EQUAL_INT(2, session.run("lab run --dataset synthetic --clients many").exit_code);
  TEST_ASSERT_EQUAL_INT(2, session.run("lab run").exit_code);
}

TEST("Missing data is answered with the command that gets it, and no output folder is made") {
  LabSession session;
  ASSERT_REFUSED("lab run --dataset mnist", "aflguard data get mnist");
  ASSERT_REFUSED("lab table 2c -o t", "aflguard data import har");
  TEST_ASSERT_FALSE(fs::exists(session.folder / "t"));
}

TEST("A model that does not fit the data is named with both shapes") {
  LabSession session;
  TEST_ASSERT_EQUAL_INT(0,
                        session.run("model build --zoo linear-regression --features 7 -o seven").exit_code);
  ASSERT_REFUSED("lab run --dataset synthetic --model seven",
                 "does not fit data set 'synthetic': it takes [7]");
  ASSERT_REFUSED("lab run --dataset synthetic --model nowhere", "nowhere");
}

TEST("The bound says that it says nothing at the paper's settings") {
  LabSession session;
  const Json bound = session.json("lab bound");
  TEST_ASSERT_TRUE(bound.at("vacuous").get<bool>());
  TEST_ASSERT_TRUE(bound.at("bound").is_null());
  ASSERT_CONTAINS(session.run("lab bound").output, "vacuous");
  TEST_ASSERT_FALSE(session.json("lab bound --lambda 0.1 --learning-rate 1 --trusted-size 100000000")
                        .at("vacuous")
                        .get<bool>());
}

TEST("The list shows what there is") {
  LabSession session;
  const Json list = session.json("lab list");
  TEST_ASSERT_EQUAL_size_t(6, list.at("datasets").size());
  for (const char* attack : {"none", "lf", "own", "sybil", "garbage"}) {
    TEST_ASSERT_TRUE_MESSAGE(std::any_of(list.at("attacks").begin(), list.at("attacks").end(),
                                         [&](const Json& item) { return item.at("name") == attack; }),
                             attack);
  }
  ASSERT_CONTAINS(session.run("lab list").output, "sync-aflguard");
}
