// Every shell line of the pages about watching, as they have it, in a fleet that runs.
#include <algorithm>
#include <fstream>

#include "tests/tools/greenhouse.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

/// What somebody who reads the page types, a line that goes on joined, a `cd` kept for the lines below it.
std::vector<std::string> shell_lines(const std::string& page) {
  std::ifstream file(source_folder() / "docs" / page);
  TEST_ASSERT_TRUE_MESSAGE(file.is_open(), page.c_str());
  std::vector<std::string> lines;
  std::string folder;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("    ")) {
      folder.clear();
      continue;
    }
    line.erase(0, 4);
    for (std::string more; line.ends_with("\\") && std::getline(file, more);) {
      line.replace(line.size() - 1, 1, more);
    }
    const std::string word = line.substr(0, line.find(' '));
    if (word == "cd") {
      folder = line + " && ";
    } else if (word == "aflguard" || word == "curl" || word.starts_with("mosquitto_")) {
      lines.push_back(folder + line);
    }
  }
  return lines;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// How a line shows that it works.
struct Expected {
  const char* part;      ///< of the line
  const char* output;    ///< holds this
  int seconds = 0;       ///< it would go on for ever, and is stopped after so long; 0: it ends by itself
  const char* add = "";  ///< what only a test needs
};

constexpr Expected kExpected[] = {
    {"greenhouse/events'", "", 2},  // one that comes just now
    {"mosquitto_sub", R"({"schema":"aflguard-)", 3},
    {"mosquitto_rr", R"("schema":"aflguard-history-1")"},
    {"/metrics", "# TYPE aflguard_updates_accepted_total counter"},
    {"/healthz", "200 OK"},
    {"fleet viewer add home-assistant", "home-assistant"},
    {"aflguard monitor --fleet fleet --once --json", R"("schema": "aflguard-status-1")"},
    {"aflguard monitor", "gateway ready", 5, " --interval 1"},
    {"aflguard status --fleet fleet --json", R"("schema": "aflguard-status-1")"},
    {"aflguard status", "gateway ready"},
    {"aflguard doctor --json", R"("schema": "aflguard-doctor-1")"},
    {"aflguard doctor", "content"},
    {"aflguard fleet init", "greenhouse"},
    {"aflguard fleet refresh", ""},
    {"aflguard fleet renew dashboard-key", "key"},
    {"aflguard dashboard", "http://127.0.0.1:", 3, " --port 0 --page page.html"},
    {"aflguard fleet viewer", ""},
};

void follow(const Greenhouse& greenhouse, const std::string& line) {
  const auto* const expected =
      std::find_if(std::begin(kExpected), std::end(kExpected),
                   [&](const Expected& one) { return line.find(one.part) != std::string::npos; });
  TEST_ASSERT_TRUE_MESSAGE(expected != std::end(kExpected),
                           ("nobody knows what this line of the manual shows: " + line).c_str());
  std::string command = line.substr(0, line.find("  #")) + expected->add;
  if (expected->seconds > 0) {
    const auto program = command.find("&& ") == std::string::npos ? 0 : command.find("&& ") + 3;
    command.insert(program, "timeout " + std::to_string(expected->seconds) + " ");
  }
  const ProgramOutcome outcome = greenhouse.try_shell(command);
  const bool stopped = expected->seconds > 0 && outcome.exit_code == 124;
  TEST_ASSERT_TRUE_MESSAGE(outcome.exit_code == 0 || stopped, (command + "\n" + outcome.output).c_str());
  if (outcome.output.find(expected->output) == std::string::npos) {
    TEST_FAIL_MESSAGE((command + " shows no '" + expected->output + "':\n" + outcome.output).c_str());
  }
}

}  // namespace

TEST("Every shell line of the pages about watching does what they say") {
  if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  const std::string metrics = "127.0.0.1:" + std::to_string(free_loopback_port());
  Greenhouse greenhouse("--dashboard-port " + std::to_string(free_loopback_port()),
                        "\n[metrics]\nlisten = \"" + metrics + "\"\n");
  greenhouse.shell("aflguard device add pi-1 && aflguard device bundle pi-1 -o pi-1.tar");
  greenhouse.shell("echo page >page.html");
  greenhouse.start_board();
  wait_until("the board's updates are judged",
             [&] { return greenhouse.count("client.log", "verdict ") >= 3; });
  for (const char* page : {"topics.md", "monitoring.md", "monitor.md", "dashboard.md"}) {
    const auto lines = shell_lines(page);
    TEST_ASSERT_TRUE_MESSAGE(!lines.empty(), page);
    for (std::string line : lines) {
      line = with(line, "aflguard fleet init", "mkdir new && cd new && aflguard fleet init");
      line = with(line, "-p 8883", "-p " + std::to_string(greenhouse.port()));
      line = with(line, "127.0.0.1:9464", metrics);
      line = with(line, "--fleet greenhouse", "--fleet fleet");
      line = with(line, "/var/lib/aflguard/fleet", "fleet");
      line = with(line, "cd greenhouse/", "cd fleet/");
      line = with(line, "/etc/aflguard/client.toml", "board/client.toml");
      follow(greenhouse, line);
    }
  }
}
