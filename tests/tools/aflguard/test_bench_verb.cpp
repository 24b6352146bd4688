// `aflguard bench` is aflguard-bench under another name.
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::program;

namespace {

ProgramOutcome outcome_of(const std::vector<std::string>& command) {
  auto outcome = run_program(command, "/");
  ASSERT_OK(outcome);
  return *outcome;
}

}  // namespace

TEST("The help of both lists every benchmark, under the name that it was called by") {
  const auto through = outcome_of({program("aflguard"), "bench", "--help"});
  const auto alone = outcome_of({program("aflguard-bench"), "--help"});
  TEST_ASSERT_EQUAL_INT(0, through.exit_code);
  TEST_ASSERT_EQUAL_INT(0, alone.exit_code);
  for (const char* name : {"train", "guard", "gateway", "watch", "monitor"}) {
    ASSERT_CONTAINS(through.output, std::string("\n  ") + name + " ");
    ASSERT_CONTAINS(alone.output, std::string("\n  ") + name + " ");
  }
  ASSERT_CONTAINS(through.output, "aflguard bench [OPTIONS]");
  ASSERT_CONTAINS(alone.output, "aflguard-bench [OPTIONS]");
  ASSERT_CONTAINS(outcome_of({program("aflguard"), "bench", "train", "--help"}).output, "--no-baseline");
  ASSERT_CONTAINS(outcome_of({program("aflguard"), "--help"}).output, "bench");
}

TEST("A wrong command line ends with 2 and one line, as of any verb") {
  const auto unknown = outcome_of({program("aflguard"), "bench", "nonsense"});
  TEST_ASSERT_EQUAL_INT(2, unknown.exit_code);
  ASSERT_CONTAINS(unknown.output, "aflguard: unknown command 'nonsense'; see --help");
  TEST_ASSERT_EQUAL_INT(2, outcome_of({program("aflguard"), "bench"}).exit_code);
  TEST_ASSERT_EQUAL_INT(2, outcome_of({program("aflguard"), "bench", "train", "--rounds", "0"}).exit_code);
}
