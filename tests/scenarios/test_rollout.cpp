// A fleet gets another model through its broker, while boards lose their power: from the operator's command
// to the boards' verdicts, with real programs. By default three boards and one power cut; `./run check
// rollout` takes twenty and chaos:
//   AFLGUARD_ROLLOUT_BOARDS   20
//   AFLGUARD_ROLLOUT_MINUTES  of chaos, for each of two roll-outs
//   AFLGUARD_SEED             of the chaos
#include <cstdio>
#include <cstdlib>
#include <future>
#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

std::string environment_or(const char* name, const char* default_value) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? default_value : text;
}

/// So many classes that a line can tell apart.
std::string rows(int classes, int count) {
  std::string text = "a,b,c,d,label\n";
  for (int i = 0; i < count; ++i) {
    const int label = i % classes;
    const double noise = 0.01 * (i % 7);
    for (int feature = 0; feature < 4; ++feature) {
      text += std::to_string((feature == label ? 1.0 : 0.0) + noise) + ",";
    }
    text += std::to_string(label) + "\n";
  }
  return text;
}

/// A fleet whose boards have three classes, and whose gateway's trusted samples have two of them.
class Field final {
 public:
  Field() {
    shell("aflguard fleet init fleet --name field --broker-host localhost --broker-port " +
          std::to_string(testing::free_loopback_port()));
    build("fleet/model", "--classes 3");
    ASSERT_OK(write_file_atomically(folder_ / "fleet/gateway/trusted.csv", rows(2, 60)));
    ASSERT_OK(write_file_atomically(folder_ / "samples.csv", rows(3, 40 * boards())));
    shell("aflguard sim up --depth native=" + std::to_string(boards()) +
          " --data samples.csv --with-gateway --interval 0.2 --patience 600");
    shell("aflguard sim wait --verdicts 2 --patience 600");
  }
  ~Field() { (void)try_shell("aflguard sim down"); }

  [[nodiscard]] static int boards() { return std::stoi(environment_or("AFLGUARD_ROLLOUT_BOARDS", "3")); }
  void build(const std::string& package, const std::string& options) const {
    shell("aflguard model build --zoo logistic-regression --features 4 " + options + " -o " + package);
  }
  [[nodiscard]] ProgramOutcome try_shell(const std::string& line) const {
    auto outcome =
        run_program({"env", "AFLGUARD_FLEET=fleet",
                     "PATH=" + testing::programs_folder().string() + ":/usr/sbin:/usr/bin:/sbin:/bin", "sh",
                     "-c", line + " 2>&1"},
                    folder_.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  std::string shell(const std::string& line) const {
    const ProgramOutcome outcome = try_shell(line);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, (line + "\n" + outcome.output).c_str());
    return outcome.output;
  }
  /// It must fail, and say so.
  void refuse(const std::string& line, const std::string& why) const {
    const ProgramOutcome outcome = try_shell(line);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, outcome.exit_code, (line + "\n" + outcome.output).c_str());
    ASSERT_CONTAINS(outcome.output, why);
  }
  [[nodiscard]] Json status() const {
    const ProgramOutcome outcome = try_shell("aflguard fleet rollout status --json");
    return outcome.exit_code == 0 ? Json::parse(outcome.output, nullptr, false) : Json();
  }
  /// Every board says that it has that model.
  void wait_for_model(int number) const {
    testing::wait_until(("every board has model " + std::to_string(number)).c_str(), [&] {
      const Json now = status();
      if (!now.is_object() || now.at("devices").size() != static_cast<std::size_t>(boards())) return false;
      for (const Json& device : now.at("devices")) {
        if (device.at("model_number") != number || device.at("state") == "lost") return false;
      }
      return now.at("current").at("number") == number;
    });
  }
  [[nodiscard]] std::string store(const std::string& sql) const {
    std::string text = shell("sqlite3 -readonly fleet/gateway/state/gateway.db '" + sql + "'");
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }
  /// Nothing lost, nothing judged twice, and the store's history goes from the first verdict to the last.
  void verify() const {
    TEST_ASSERT_TRUE(Json::parse(shell("aflguard sim verify --json")).at("holds").get<bool>());
    TEST_ASSERT_EQUAL_STRING("1", store("SELECT min(iteration) FROM verdicts").c_str());
    TEST_ASSERT_EQUAL_STRING("0", store("SELECT max(iteration) - count(*) FROM verdicts").c_str());
  }

 private:
  testing::TemporaryFolder folder_;
};

/// Faults for some minutes, beside what the operator does meanwhile; none by default.
std::future<std::string> chaos(const Field& field, const std::string& seed) {
  const std::string minutes = environment_or("AFLGUARD_ROLLOUT_MINUTES", "");
  if (minutes.empty()) return std::async(std::launch::deferred, [] { return std::string(); });
  return std::async(std::launch::async, [&field, seed, minutes] {
    return field.shell("aflguard sim chaos --seed " + seed + " --minutes " + minutes + " --patience 1200");
  });
}

}  // namespace

TEST("A model reaches every board through the broker, a bad one stops at its canaries, and undo goes back") {
  if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  const Field field;
  const bool at_length = Field::boards() > 3;
  const std::string seed = environment_or("AFLGUARD_SEED", "1");
  field.build("next", "--classes 3 --standardise fleet/gateway/trusted.csv");
  field.build("narrow", "--classes 2");
  field.shell("cp -r fleet/model first");

  // One board is without power; it comes later.
  if (!at_length) field.shell("aflguard sim unplug sim-03");
  auto first = chaos(field, seed);
  const std::string canaries = at_length ? "--canary 2" : "--devices sim-01";
  std::printf("%s", field.shell("aflguard fleet rollout next --wait 900 " + canaries).c_str());
  if (!at_length) field.shell("aflguard sim plug sim-03");
  std::printf("%s", first.get().c_str());
  field.wait_for_model(2);
  field.shell("aflguard sim wait --verdicts 2 --patience 600");
  field.verify();
  TEST_ASSERT_EQUAL_STRING("2", field.store("SELECT count(*) FROM models").c_str());
  TEST_ASSERT_EQUAL_STRING(
      "2", field.store("SELECT number FROM models WHERE hash IN (SELECT value FROM meta)").c_str());

  // What cannot be rolled out is refused where the operator is, and the fleet goes on.
  field.refuse("aflguard fleet rollout next", "trains logistic-regression (number 2)");
  field.refuse("aflguard fleet rollout nothing", "is not a model package");
  field.refuse("cp -r narrow damaged && printf x >>damaged/train.onnx && aflguard fleet rollout damaged",
               "train.onnx is not the file");
  field.refuse("aflguard fleet rollout first", "is older than what the fleet trains");

  // The gateway can train this one, but the boards have a class that it does not know.
  auto second = chaos(field, seed + "1");
  const ProgramOutcome failed = field.try_shell("aflguard fleet rollout narrow --wait 900 " + canaries);
  TEST_ASSERT_EQUAL_INT_MESSAGE(1, failed.exit_code, failed.output.c_str());
  ASSERT_CONTAINS(failed.output, "cannot train it");
  std::printf("%s%s", failed.output.c_str(), second.get().c_str());
  field.wait_for_model(2);
  TEST_ASSERT_EQUAL_STRING("1", field.store("SELECT count(*) FROM model_changes").c_str());
  field.shell("aflguard sim wait --verdicts 2 --patience 600");
  field.verify();

  if (at_length) return;
  field.refuse("aflguard fleet rollout undo", "stopped by itself");
  field.shell("aflguard fleet rollout undo --force --wait 300");
  field.wait_for_model(1);
  field.shell("aflguard sim wait --verdicts 1 --patience 600");
  field.verify();
}
