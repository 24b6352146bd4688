// Tables as people have them, from the file to a fleet of four and a prediction on a board, without an edit.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::testing;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

fs::path table(const char* name) {
  return source_folder() / "tests/golden/tables" / name;
}

/// Options of a model that scales its features by the table of that name.
std::string linear(const char* name) {
  return "--zoo logistic-regression --standardise '" + table(name).string() + "' ";
}

/// A fleet for one test; whatever happens, nothing of it runs afterwards.
class OwnFleet final {
 public:
  OwnFleet() {
    if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  }
  ~OwnFleet() { (void)run_program({program("aflguard"), "sim", "down", "--fleet", "fleet"}, folder_.path()); }

  /// Standard output of a shell command in the fleet's folder; AFLGUARD and CLIENT are the programs.
  std::string run(const std::string& command, int expected = 0) const {
    const auto outcome =
        run_program({"env", "AFLGUARD=" + program("aflguard"), "CLIENT=" + program("aflguard-client"), "sh",
                     "-c", "(" + command + ") >out"},
                    folder_.path());
    ASSERT_OK(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(expected, outcome->exit_code, (command + ": " + outcome->output).c_str());
    return read_text_file(folder_ / "out").value();
  }

  [[nodiscard]] fs::path path() const { return folder_.path(); }

  /// From the table to four boards that have had their verdicts. `build`: options of the model; `reading`: of
  /// how the table is written.
  void learn(const fs::path& samples, const std::string& build, const std::string& reading,
             const std::vector<std::string>& trusted_keys) {
    const std::string file = "'" + samples.string() + "'";
    run("$AFLGUARD model build " + build + " " + reading + " -o model");
    run("$AFLGUARD fleet init fleet --name own --model model --broker-port " +
        std::to_string(free_loopback_port()));
    fs::copy_file(samples, folder_ / "fleet/gateway/trusted.csv");
    std::string keys;
    for (const std::string& key : trusted_keys) keys += key + "\\n";
    // As an operator would: the keys of [trusted], and the same for the evaluation.
    run("sed -i 's/^learning_rate = .*/learning_rate = 0.003/; s/^# delimiter = \"auto\" .*$/" + keys +
        "/' fleet/gateway/gateway.toml");
    run("sed -n '/^\\[trusted\\]/,/^$/p' fleet/gateway/gateway.toml | sed 's/trusted/evaluation/; "
        "s/evaluation.csv/trusted.csv/' >>fleet/gateway/gateway.toml; "
        "echo interval_seconds = 0.2 >>fleet/gateway/gateway.toml");
    run("$AFLGUARD sim up --fleet fleet --boards 4 --depth native --with-gateway --export --interval 0.1 "
        "--data " +
        file + " --predict " + file + " " + reading);
    run("$AFLGUARD sim wait --fleet fleet --verdicts 25");
  }

  /// Share of the rows of `samples` that board sim-01 predicts wrongly.
  double error_on_board(const std::string& rows, const std::vector<std::string>& labels) const {
    ASSERT_OK(write_file_atomically(folder_ / "rows.csv", rows));
    const std::string config = run("find fleet -path '*sim-01/card/client.toml'");
    std::istringstream lines(
        run("$CLIENT predict --config " + config.substr(0, config.find('\n')) + " <rows.csv"));
    std::size_t wrong = 0;
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      TEST_ASSERT_TRUE(count < labels.size());
      if (line.substr(0, line.find(' ')) != labels[count]) ++wrong;
    }
    TEST_ASSERT_EQUAL_size_t(labels.size(), count);
    return static_cast<double>(wrong) / static_cast<double>(count);
  }

 private:
  TemporaryFolder folder_;
};

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string last_field(std::string line, char delimiter) {
  line = line.substr(line.rfind(delimiter) + 1);
  std::erase_if(line, [](char c) { return c == '"' || c == '\r'; });
  return line;
}

}  // namespace

TEST("Fisher's iris, with names as labels, trains a fleet of four and is predicted on a board") {
  OwnFleet fleet;
  fleet.learn(table("iris.csv"),
              linear("iris.csv") + "--features 4 --classes 3 --labels setosa,versicolor,virginica", "",
              {"# no keys"});
  std::vector<std::string> labels;
  std::string rows;
  for (const std::string& line : lines_of(table("iris.csv"))) {
    rows += line + "\n";
    if (!labels.empty() || line.front() != 's') labels.push_back(last_field(line, ','));
  }
  TEST_ASSERT_EQUAL_size_t(150, labels.size());
  wait_until("the board's file does not predict what the fleet learned",
             [&] { return fleet.error_on_board(rows, labels) < 0.25; });
  // The boards themselves predicted the table with every model that they exported.
  wait_until("no board's log has a prediction",
             [&] { return fleet.run("grep -cE '^setosa [01]' fleet/sim/logs/sim-01.log || true") != "0\n"; });
  const Json check = Json::parse(
      fleet.run("$AFLGUARD data check '" + table("iris.csv").string() + "' --model model --json"));
  TEST_ASSERT_EQUAL_INT(150, check.at("used").get<int>());
  TEST_ASSERT_TRUE((check.at("classes") == Json{{"setosa", 50}, {"versicolor", 50}, {"virginica", 50}}));
  TEST_ASSERT_EQUAL_DOUBLE(4.3, std::round(check.at("columns").at(0).at("min").get<double>() * 100) / 100);
  TEST_ASSERT_EQUAL_DOUBLE(2.5, std::round(check.at("columns").at(3).at("max").get<double>() * 100) / 100);
}

TEST(
    "Semicolons, decimal commas, quotes, gaps and times train a fleet of four and are predicted on a board") {
  OwnFleet fleet;
  fleet.learn(table("machine.csv"), linear("machine.csv") + "--features 3 --classes 2 --labels idle,run",
              "--missing skip", {"missing = \"skip\""});
  const auto lines = lines_of(table("machine.csv"));
  std::vector<std::string> labels;
  std::size_t gaps = 0;
  std::string rows = lines.front() + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    // Counted apart from the reader under test: a gap is one of the four words between two semicolons.
    bool gap = false;
    for (const char* word : {";;", ";NaN;", ";n/a;", ";-;"})
      gap = gap || lines[i].find(word) != std::string::npos;
    gaps += gap ? 1 : 0;
    if (gap) continue;
    labels.push_back(last_field(lines[i], ';'));
    rows += lines[i] + "\n";
  }
  const Json check = Json::parse(fleet.run("$AFLGUARD data check '" + table("machine.csv").string() +
                                           "' --model model --missing skip --json"));
  TEST_ASSERT_EQUAL_size_t(600, check.at("rows").get<std::size_t>());
  TEST_ASSERT_EQUAL_size_t(labels.size(), check.at("used").get<std::size_t>());
  TEST_ASSERT_EQUAL_size_t(gaps, check.at("skipped").at(0).at("count").get<std::size_t>());
  wait_until("the board's file does not predict what the fleet learned",
             [&] { return fleet.error_on_board(rows, labels) < 0.1; });
}

TEST("A model on ids, as PyTorch exports it, learns in a fleet of four and predicts on a board") {
  OwnFleet fleet;
  std::string rows = "a,b,c,label\n";
  std::vector<std::string> labels;
  for (int i = 0; i < 800; ++i) {
    const int first = i * 7 % 20;
    labels.push_back(first < 10 ? "low" : "high");
    rows += std::to_string(first) + "," + std::to_string(i * 3 % 20) + "," + std::to_string(i / 20 % 20) +
            "," + labels.back() + "\n";
  }
  const fs::path samples = fleet.path() / "ids.csv";
  ASSERT_OK(write_file_atomically(samples, rows));
  fleet.learn(samples,
              "--onnx '" + (source_folder() / "tests/golden/models/ids.onnx").string() +
                  "' --loss cross-entropy --labels low,high",
              "", {"# no keys"});
  wait_until("the board's file does not predict what the fleet learned",
             [&] { return fleet.error_on_board(rows, labels) < 0.1; });
  // An id that the table of the model does not have is named before a fleet mis-trains.
  ASSERT_OK(write_file_atomically(fleet.path() / "bad.csv",
                                  std::string_view("a,b,c,label\n1,2,3,low\n4,20,6,high\n")));
  ASSERT_CONTAINS(fleet.run("$AFLGUARD data check bad.csv --model model 2>&1", 1), "line 3");
}
