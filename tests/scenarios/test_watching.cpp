// Every shell line of the pages about watching, as they have it, in a fleet that runs.
#include <algorithm>
#include <fstream>

#include "tests/scenarios/greenhouse.h"
#include "tests/support/background_process.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

/// What someone who reads the page types, a line that goes on joined, a `cd` kept for the lines below it.
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
  const char* add = "";  ///< what only a test needs
  bool endless = false;  ///< it would go on for ever, and is stopped as soon as it has shown that
};

constexpr Expected kExpected[] = {
    {"greenhouse/events'", "", " -W 2 || [ $? -eq 27 ]"},  // no event comes just now: it is only let in
    {"mosquitto_sub", R"({"schema":"aflguard-)", " -C 1 -W 60"},
    {"mosquitto_rr", R"("schema":"aflguard-history-1")"},
    {"/metrics", "# TYPE aflguard_updates_accepted_total counter"},
    {"/healthz", "200 OK"},
    {"fleet viewer add home-assistant", "home-assistant"},
    {"aflguard monitor --fleet fleet --once --json", R"("schema": "aflguard-status-1")"},
    {"aflguard monitor", "gateway ready", " --interval 1", true},
    {"aflguard status --fleet fleet --json", R"("schema": "aflguard-status-1")"},
    {"aflguard status", "gateway ready"},
    {"aflguard doctor --json", R"("schema": "aflguard-doctor-1")"},
    {"aflguard doctor", "content"},
    {"aflguard fleet init", "greenhouse"},
    {"aflguard fleet refresh", ""},
    {"aflguard fleet renew dashboard-key", "key"},
    {"aflguard dashboard", "http://127.0.0.1:", " --port 0 --page page.html", true},
    {"aflguard fleet viewer", ""},
};

void follow(const Greenhouse& greenhouse, const std::string& line) {
  const auto* const expected =
      std::find_if(std::begin(kExpected), std::end(kExpected),
                   [&](const Expected& one) { return line.find(one.part) != std::string::npos; });
  TEST_ASSERT_TRUE_MESSAGE(expected != std::end(kExpected),
                           ("nobody knows what this line of the manual shows: " + line).c_str());
  std::string command = line.substr(0, line.find("  #")) + expected->add;
  if (expected->endless) {
    const auto program = command.find("&& ") == std::string::npos ? 0 : command.find("&& ") + 3;
    command.insert(program, "exec ");
    command = "(" + command + ") >shown 2>&1 & program=$!; tries=600; until grep -qF -e '" +
              expected->output +
              "' shown || [ $tries -eq 0 ] || ! kill -0 $program; do tries=$((tries - 1)); sleep 0.1; done; "
              "kill $program; wait $program; cat shown; rm shown";
  }
  const ProgramOutcome outcome = greenhouse.try_shell(command);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, (command + "\n" + outcome.output).c_str());
  if (outcome.output.find(expected->output) == std::string::npos) {
    TEST_FAIL_MESSAGE((command + " shows no '" + expected->output + "':\n" + outcome.output).c_str());
  }
}

/// Every expression that some part of a Grafana dashboard asks for.
void collect_expressions(const nlohmann::json& part, std::vector<std::string>& expressions) {
  if (part.is_object() && part.contains("expr")) expressions.push_back(part.at("expr").get<std::string>());
  if (part.is_structured()) {
    for (const nlohmann::json& inner : part) collect_expressions(inner, expressions);
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
  wait_until("the board's updates are judged", [&] { return greenhouse.count("pi-1", "verdict ") >= 3; });
  for (const char* page : {"topics.md", "prometheus.md", "monitor.md", "dashboard.md"}) {
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

TEST("A real Prometheus has an answer to every question of the Grafana dashboard, and takes the alerts") {
  const char* prometheus = std::getenv("AFLGUARD_PROMETHEUS");
  if (prometheus == nullptr) TEST_IGNORE_MESSAGE("only ./run check metrics has a Prometheus");
  const std::string metrics = "127.0.0.1:" + std::to_string(free_loopback_port());
  const std::string address = "127.0.0.1:" + std::to_string(free_loopback_port());
  Greenhouse greenhouse("", "\n[metrics]\nlisten = \"" + metrics +
                                "\"\n[evaluation]\nformat = \"csv\"\nfile = \"trusted.csv\"\n"
                                "label_column = \"last\"\nheader = true\ninterval_seconds = 1\n");
  greenhouse.shell("aflguard device add pi-1 && aflguard device bundle pi-1 -o pi-1.tar");
  greenhouse.start_board();
  const TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(
      folder / "prometheus.yml",
      "global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [\"" +
          (source_folder() / "packaging/prometheus/alerts.yml").string() +
          "\"]\nscrape_configs:\n  - {job_name: aflguard, static_configs: [{targets: [\"" + metrics +
          "\"]}]}\n"));
  BackgroundProcess server({prometheus, "--config.file=" + (folder / "prometheus.yml").string(),
                            "--storage.tsdb.path=" + (folder / "data").string(),
                            "--web.listen-address=" + address, "--log.level=warn"},
                           folder.path(), folder / "log");
  std::vector<std::string> expressions;
  const auto dashboard = read_text_file(source_folder() / "packaging/grafana/dashboard.json");
  ASSERT_OK(dashboard);
  collect_expressions(nlohmann::json::parse(*dashboard).at("panels"), expressions);
  TEST_ASSERT_TRUE(expressions.size() >= 10);
  const auto ask = [&](const std::string& path) {
    return nlohmann::json::parse(greenhouse.try_shell("curl -s 'http://" + address + path).output, nullptr,
                                 false);
  };
  for (const std::string& expression : expressions) {
    const std::string query = with(with(expression, "$instance", ".*"), "$__rate_interval", "10s");
    // Nothing is rejected or refused here: an answer, but an empty one.
    const bool may_be_empty =
        query.find("rejected_total") != std::string::npos || query.find("refused_total") != std::string::npos;
    wait_until(query, [&] {
      const auto answer = ask("/api/v1/query' --data-urlencode 'query=" + query + "'");
      if (!answer.is_object()) return false;  // it starts
      TEST_ASSERT_EQUAL_STRING_MESSAGE("success", answer.at("status").get<std::string>().c_str(),
                                       (query + ": " + answer.dump()).c_str());
      return may_be_empty || !answer.at("data").at("result").empty();
    });
  }
  wait_until("the alert rules work", [&] {
    const auto answer = ask("/api/v1/rules'");
    std::size_t healthy = 0;
    for (const auto& group : answer.at("data").at("groups")) {
      for (const auto& rule : group.at("rules")) {
        TEST_ASSERT_TRUE_MESSAGE(rule.at("health") != "err", rule.dump().c_str());
        healthy += rule.at("health") == "ok" ? 1 : 0;
      }
    }
    return healthy >= 9;
  });
}
