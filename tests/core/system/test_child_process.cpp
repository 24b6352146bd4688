#include "core/system/child_process.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("A program runs in its folder and both its outputs come back") {
  const testing::TemporaryFolder folder;
  const auto outcome = run_program({"sh", "-c", "echo one; echo two >&2; touch here"}, folder.path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT(0, outcome->exit_code);
  TEST_ASSERT_EQUAL_STRING("one\ntwo\n", outcome->output.c_str());
  TEST_ASSERT_TRUE(std::filesystem::exists(folder / "here"));
}

TEST("Arguments reach the program as they are, whatever a shell would make of them") {
  const auto outcome = run_program({"printf", "%s", "a b;$(c) *'\""}, "/");
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_STRING("a b;$(c) *'\"", outcome->output.c_str());
}

TEST("A failing program is an outcome with its code; a signal counts as 128 and its number") {
  TEST_ASSERT_EQUAL_INT(7, run_program({"sh", "-c", "exit 7"}, "/")->exit_code);
  TEST_ASSERT_EQUAL_INT(128 + 9, run_program({"sh", "-c", "kill -9 $$"}, "/")->exit_code);
}

TEST("A program that does not exist is not found") {
  const auto outcome = run_program({"aflguard-no-such-program"}, "/");
  TEST_ASSERT_FALSE(outcome.ok());
  TEST_ASSERT_TRUE(outcome.error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(outcome.error().message, "aflguard-no-such-program");
}

TEST("Of much output the end is kept") {
  const auto outcome =
      run_program({"sh", "-c", "head -c 200000 /dev/zero | tr '\\0' x; echo; echo end"}, "/");
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_size_t(kMaxProgramOutput, outcome->output.size());
  TEST_ASSERT_EQUAL_STRING("end", outcome->last_line().c_str());
}

TEST("The last line skips blank lines and may be the only one") {
  TEST_ASSERT_EQUAL_STRING("b", (ProgramOutcome{0, "a\nb\n\n \n"}.last_line().c_str()));
  TEST_ASSERT_EQUAL_STRING("a", (ProgramOutcome{0, "a"}.last_line().c_str()));
  TEST_ASSERT_EQUAL_STRING("", (ProgramOutcome{0, "\n"}.last_line().c_str()));
}
