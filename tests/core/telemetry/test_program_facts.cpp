#include <vector>

#include "core/base/rfc3339.h"
#include "core/system/atomic_file.h"
#include "core/telemetry/program_facts.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

std::string golden_fact(const std::string& name) {
  auto text = read_text_file(testing::source_folder() / "tests/golden/program_facts" / (name + ".json"));
  ASSERT_OK(text);
  return text->substr(0, text->size() - 1);
}

/// Every fact beside the file that holds its line.
std::vector<std::pair<std::string, ProgramFact>> known_facts() {
  return {{"ready", ReadyFact{"greenhouse", "pi-7"}},
          {"verdict-accepted", VerdictFact{17, true, "accepted", 204, 3}},
          {"verdict-rejected", VerdictFact{18, false, "too-far", 204, 0}},
          {"identity", IdentityFact{"greenhouse", "pi-7", *parse_rfc3339("2026-03-01T12:00:00Z"),
                                    *parse_rfc3339("2028-03-01T12:00:00Z")}}};
}

}  // namespace

TEST("Facts are written as the golden lines have them, one line each") {
  for (const auto& [name, fact] : known_facts()) {
    TEST_ASSERT_EQUAL_STRING(golden_fact(name).c_str(), to_line(fact).c_str());
    TEST_ASSERT_TRUE(to_line(fact).starts_with(kFactBegin));
    TEST_ASSERT_TRUE(to_line(fact).find('\n') == std::string::npos);
  }
}

TEST("Golden lines are read back, whatever a journal or a console puts around them") {
  for (const auto& [name, fact] : known_facts()) {
    for (const char* before : {"", "[   41.204117] aflguard-client[312]: ", "info: "}) {
      TEST_ASSERT_TRUE(read_fact(before + golden_fact(name)) == fact);
      TEST_ASSERT_TRUE(read_fact(before + golden_fact(name) + "\r") == fact);
    }
  }
}

TEST("A fact that is cut counts for nothing, wherever it ends") {
  for (const auto& [name, fact] : known_facts()) {
    const std::string whole = golden_fact(name);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      TEST_ASSERT_FALSE(read_fact(whole.substr(0, length)).has_value());
      TEST_ASSERT_FALSE(read_fact(whole.substr(0, length) + " <cut>").has_value());
    }
    TEST_ASSERT_FALSE(read_fact(whole + " <cut>").has_value());
  }
}

TEST("A fact with a field too many is read, one with a field missing, of another kind or schema is not") {
  TEST_ASSERT_TRUE(read_fact(R"({"schema":"aflguard.ready.v1","fleet":"f","name":"n","later":[1]})") ==
                   ProgramFact(ReadyFact{"f", "n"}));
  for (
      const char* line :
      {R"({"schema":"aflguard.ready.v1","fleet":"f"})",
       R"({"schema":"aflguard.ready.v1","fleet":"f","name":7})",
       R"({"schema":"aflguard.ready.v2","fleet":"f","name":"n"})",
       R"({"schema":"aflguard.verdict.v1","sequence":-1,"accepted":true,"reason":"","version":1,"delay":0})",
       R"({"schema":"aflguard.verdict.v1","sequence":1,"accepted":1,"reason":"","version":1,"delay":0})",
       R"({"schema":"aflguard.identity.v1","fleet":"f","device":"d","not_before":"now","not_after":"later"})",
       R"({"schema":"aflguard.ready.v1","schema":7,"fleet":"f","name":"n"})", "ready", ""}) {
    TEST_ASSERT_FALSE_MESSAGE(read_fact(line).has_value(), line);
  }
}

TEST("Facts of a log are found in their order; the last line may still grow") {
  const std::string log = "info: connected\n" + golden_fact("ready") + "\nwarning: {\n" +
                          golden_fact("verdict-accepted") + "\n" + golden_fact("verdict-rejected");
  std::vector<ProgramFact> found;
  for_each_fact(log, [&](const ProgramFact& fact) { found.push_back(fact); });
  TEST_ASSERT_EQUAL_size_t(2, found.size());
  TEST_ASSERT_TRUE(std::holds_alternative<ReadyFact>(found[0]));
  TEST_ASSERT_TRUE(std::holds_alternative<VerdictFact>(found[1]));
}
