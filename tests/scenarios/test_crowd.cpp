#include <map>
#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf
#include <string>
#include <vector>

#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

/// The conditions of each figure of `aflguard bench crowd`, by its name.
std::map<std::string, nlohmann::json> crowd(const std::vector<std::string>& arguments) {
  if (!have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  const TemporaryFolder folder;
  std::vector<std::string> command = {program("aflguard-bench"), "crowd", "--json"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto outcome = run_program(command, folder.path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
  std::map<std::string, nlohmann::json> results;
  const auto document = nlohmann::json::parse(outcome->output.substr(outcome->output.find('{')));
  for (const auto& result : document.at("results")) {
    results[result.at("name").get<std::string>()] = result.at("conditions");
  }
  return results;
}

void expect_all_served(const nlohmann::json& figure) {
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, figure.at("devices_without_a_verdict").get<int>(), figure.dump(2).c_str());
}

}  // namespace

TEST("Distinct devices have their turns evenly, also beside one that floods") {
  const auto results = crowd({"--busy", "60", "--seconds", "2", "--honest", "20", "--burst", "0", "--stream",
                              "0", "--clients", "0"});
  const auto& busy = results.at("crowd_busy_60");
  // How many turns there are is the disk's affair; that they are even is not.
  TEST_ASSERT_TRUE_MESSAGE(
      2 * busy.at("slowest_tenth_turns").get<double>() >= busy.at("median_turns").get<double>(),
      busy.dump(2).c_str());
  const auto& beside = results.at("crowd_beside_flood_ms");
  TEST_ASSERT_TRUE_MESSAGE(
      2 * beside.at("slowest_tenth_turns").get<double>() >= beside.at("median_turns").get<double>(),
      beside.dump(2).c_str());
  TEST_ASSERT_TRUE(beside.at("flood_messages_per_second").get<double>() > 0);
}

TEST("A burst and a stream of new devices are answered completely, and none is refused for their number") {
  const auto results = crowd({"--busy", "1", "--seconds", "1", "--honest", "0", "--burst", "1000", "--stream",
                              "12000", "--per-second", "1000", "--clients", "0"});
  for (const char* name : {"crowd_burst", "crowd_stream"}) {
    expect_all_served(results.at(name));
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, results.at(name).at("signed_refusals").get<int>(), name);
  }
  TEST_ASSERT_EQUAL_INT(12'000, results.at("crowd_stream").at("turns").get<int>());
}
