#include <nlohmann/json.hpp>

#include "fleet/doctor/finding.h"
#include "tests/support/test.h"

using namespace aflguard::fleet;
using Json = nlohmann::json;

namespace {

Findings one_of_each() {
  Findings findings;
  findings.ok("clock", "the clock is right");
  findings.warning("disk", "5 % are free", "free space");
  findings.problem("gateway", "the gateway is \xff silent", "start it");
  return findings;
}

}  // namespace

TEST("Findings are counted by their level") {
  const Findings findings = one_of_each();
  TEST_ASSERT_EQUAL_size_t(1, findings.count(FindingLevel::kOk));
  TEST_ASSERT_EQUAL_size_t(1, findings.count(FindingLevel::kWarning));
  TEST_ASSERT_EQUAL_size_t(1, findings.count(FindingLevel::kProblem));
}

TEST("The document has every finding with its advice, and is JSON whatever a file had in it") {
  const Json document = Json::parse(findings_document(one_of_each()));
  TEST_ASSERT_EQUAL_STRING("aflguard-doctor-1", document.at("schema").get<std::string>().c_str());
  TEST_ASSERT_FALSE(document.at("content").get<bool>());
  TEST_ASSERT_EQUAL_INT(1, document.at("problems").get<int>());
  TEST_ASSERT_EQUAL_INT(1, document.at("warnings").get<int>());
  const Json warning = document.at("findings").at(1);
  TEST_ASSERT_TRUE(
      warning ==
      (Json{{"level", "warning"}, {"check", "disk"}, {"found", "5 % are free"}, {"advice", "free space"}}));
}

TEST("Warnings alone leave the doctor content") {
  Findings findings;
  findings.warning("disk", "5 % are free", "free space");
  TEST_ASSERT_TRUE(Json::parse(findings_document(findings)).at("content").get<bool>());
  ASSERT_CONTAINS(findings_text(findings, false), "content, 1 to know\n");
}

TEST("The text has a line per finding, its advice below, and colours only where they are wanted") {
  const std::string plain = findings_text(one_of_each(), false);
  ASSERT_CONTAINS(plain, "ok       the clock is right\n");
  ASSERT_CONTAINS(plain, "warning  5 % are free\n         -> free space\n");
  ASSERT_CONTAINS(plain, "1 to solve, 1 to know\n");
  TEST_ASSERT_TRUE(plain.find('\x1b') == std::string::npos);
  ASSERT_CONTAINS(findings_text(one_of_each(), true), "\x1b[33mwarning \x1b[0m 5 % are free");
}
