// The whole product at once: broker, gateway and client processes, started and stopped by the real program.
// The synthetic data set needs no download and trains in no time.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/background_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
namespace fs = std::filesystem;

namespace {

void need_broker() {
  if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
}

/// Processes whose command line names something in `folder`, besides `except`.
std::vector<pid_t> processes_of(const fs::path& folder, pid_t except = 0, const std::string& word = {}) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry.path().filename().c_str()));
    if (pid <= 0 || pid == except) continue;
    std::ifstream in(entry.path() / "cmdline");
    const std::string command((std::istreambuf_iterator<char>(in)), {});
    if (command.find(folder.string()) == std::string::npos) continue;
    if (command.find(word) != std::string::npos) found.push_back(pid);
  }
  return found;
}

std::string text_of(const fs::path& path) {
  const auto text = read_text_file(path);
  return text.ok() ? *text : std::string();
}

/// A demo that would go on for ever, seen learning.
struct EndlessDemo {
  testing::TemporaryFolder folder;
  fs::path work = folder / "work";
  testing::BackgroundProcess process{
      {testing::program("aflguard"), "demo", "--dataset", "synthetic", "--clients", "3", "--malicious", "1",
       "--updates", "1000000", "--no-recording", "-o", work.string()},
      folder.path(),
      folder / "output"};
  EndlessDemo() {
    testing::wait_until("a client gets a verdict", [this] {
      return text_of(work / "logs/pi-03.log").find("verdict") != std::string::npos;
    });
  }
};

}  // namespace

TEST(
    "A fleet learns, its malicious client is rejected every time, and the recording replays to the same "
    "verdicts") {
  need_broker();
  const testing::TemporaryFolder folder;
  const auto outcome = run_program(
      {"sh", "-c",
       "'" + testing::program("aflguard") +
           "' demo --dataset synthetic --clients 4 --malicious 1 --updates 150 -o out --json 2>progress"},
      folder.path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code,
                                (outcome->output + text_of(folder / "progress")).c_str());
  const auto json = nlohmann::json::parse(outcome->output);
  TEST_ASSERT_EQUAL_STRING("aflguard-demo-1", json.at("schema").get<std::string>().c_str());
  TEST_ASSERT_TRUE(json.at("updates").get<int>() >= 150);
  TEST_ASSERT_EQUAL_INT(0, json.at("accepted").at("byzantine").get<int>());
  TEST_ASSERT_TRUE(json.at("rejected").at("byzantine").get<int>() > 0);
  TEST_ASSERT_EQUAL_INT(json.at("updates").get<int>(), json.at("accepted").at("honest").get<int>() +
                                                           json.at("rejected").at("honest").get<int>() +
                                                           json.at("rejected").at("byzantine").get<int>());
  TEST_ASSERT_EQUAL_INT(json.at("accepted").at("honest").get<int>(), json.at("model_version").get<int>());
  TEST_ASSERT_TRUE(json.at("test_error").get<double>() < 500);  // it starts near 2800
  ASSERT_CONTAINS(text_of(json.at("report").get<std::string>()), "<svg");
  ASSERT_CONTAINS(text_of(folder / "progress"), "updates");
  const auto replay =
      run_program({testing::program("aflguard"), "lab", "replay", json.at("recording").get<std::string>()},
                  folder.path());
  ASSERT_OK(replay);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, replay->exit_code, replay->output.c_str());
  ASSERT_CONTAINS(replay->output, "every verdict agrees");
  // Keys and data are gone, and so is every process.
  TEST_ASSERT_FALSE(fs::exists(folder / "out/fleet"));
  TEST_ASSERT_EQUAL_size_t(0, processes_of(folder.path()).size());
}

TEST(
    "A client that has the trusted samples misleads AFLGuard, not SpanGuard, whose recording replays alike") {
  need_broker();
  const testing::TemporaryFolder folder;
  const auto demo = [&](const std::string& guard) {
    const auto outcome =
        run_program({"sh", "-c",
                     "'" + testing::program("aflguard") +
                         "' demo --dataset synthetic --clients 5 --malicious 1 --attack adapt-boundary "
                         "--guard " +
                         guard + " --updates 300 -o " + guard + " --json 2>progress"},
                    folder.path());
    ASSERT_OK(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code,
                                  (outcome->output + text_of(folder / "progress")).c_str());
    return nlohmann::json::parse(outcome->output);
  };
  const auto ours = demo("span-guard");
  TEST_ASSERT_TRUE(ours.at("test_error").get<double>() < 100);  // it starts near 2800
  TEST_ASSERT_TRUE(demo("aflguard").at("test_error").get<double>() > 3 * ours.at("test_error").get<double>());
  const auto replay =
      run_program({testing::program("aflguard"), "lab", "replay", ours.at("recording").get<std::string>()},
                  folder.path());
  ASSERT_OK(replay);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, replay->exit_code, replay->output.c_str());
  ASSERT_CONTAINS(replay->output, "every verdict agrees");
}

TEST("Ctrl-C stops everything and leaves nothing behind") {
  need_broker();
  EndlessDemo demo;
  TEST_ASSERT_EQUAL_size_t(5, processes_of(demo.work, demo.process.pid()).size());
  demo.process.end(SIGINT);
  TEST_ASSERT_EQUAL_size_t(0, processes_of(demo.work).size());
  ASSERT_CONTAINS(text_of(demo.folder / "output"),
                  "interrupted; everything that was started has been stopped");
  TEST_ASSERT_FALSE(fs::exists(demo.work));
}

TEST("When a client dies, the demo says which, how, and what it last wrote, and stops the others") {
  need_broker();
  EndlessDemo demo;
  const auto victim = processes_of(demo.work, demo.process.pid(), "pi-02");
  TEST_ASSERT_EQUAL_size_t(1, victim.size());
  testing::wait_until("the client's first words",
                      [&] { return text_of(demo.work / "logs/pi-02.log").find('\n') != std::string::npos; });
  ::kill(victim.front(), SIGKILL);
  testing::wait_until("the demo ends", [&] { return !demo.process.running(); });
  const std::string output = text_of(demo.folder / "output");
  ASSERT_CONTAINS(output, "client pi-02 was ended by signal 9; its log ");
  ASSERT_CONTAINS(output, " ends: info: ");
  TEST_ASSERT_EQUAL_size_t(0, processes_of(demo.work).size());
}

TEST("When the demo itself is killed, its processes end with it") {
  need_broker();
  EndlessDemo demo;
  demo.process.end(SIGKILL);
  testing::wait_until("the children end", [&] { return processes_of(demo.work).empty(); });
}

TEST("What does not exist is named before anything is started") {
  const testing::TemporaryFolder folder;
  const auto refuse = [&](const std::string& arguments) {
    const auto outcome = run_program(
        {"sh", "-c", "'" + testing::program("aflguard") + "' demo -o out " + arguments}, folder.path());
    ASSERT_OK(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, outcome->exit_code, outcome->output.c_str());
    TEST_ASSERT_FALSE(fs::exists(folder / "out"));
    return outcome->last_line();
  };
  ASSERT_CONTAINS(refuse("--attack gdd"), "did you mean 'gd'?");
  ASSERT_CONTAINS(refuse("--attack own"), "attack 'own' needs the guard's state");
  ASSERT_CONTAINS(refuse("--dataset mnistt"), "did you mean 'mnist'?");
  ASSERT_CONTAINS(refuse("--clients 3 --malicious 4"), "4 malicious of 3 clients");
  ASSERT_CONTAINS(refuse("--dataset synthetic --guard trust"), "unknown guard 'trust'");
}
