#include "core/system/atomic_file.h"
#include "firmware_sim/image/long_command.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::image;

namespace {

LongCommand shell(const testing::TemporaryFolder& folder, const std::string& script) {
  return {{"sh", "-c", script}, folder.path(), folder / "log", step_progress};
}

}  // namespace

TEST("A long command that succeeds is fine, one that fails says its last line and where the rest is") {
  const testing::TemporaryFolder folder;
  SilentProgress progress;
  const auto go_on = [] { return false; };
  ASSERT_OK(run_long_command(shell(folder, "echo one"), progress, go_on));
  ASSERT_CONTAINS(read_text_file(folder / "log").value(), "one\n");
  const auto failed =
      run_long_command(shell(folder, "echo two; echo 'no room' >&2; exit 3"), progress, go_on);
  TEST_ASSERT_FALSE(failed.ok());
  ASSERT_CONTAINS(failed.error().message, "no room (the whole story is in ");
  TEST_ASSERT_TRUE(read_text_file(folder / "log").value().find("one") == std::string::npos);
}

TEST("An interrupted command gets the signal, and is gone when the call returns") {
  const testing::TemporaryFolder folder;
  SilentProgress progress;
  const auto begun = [&] { return std::filesystem::exists(folder / "begun"); };
  const auto status = run_long_command(
      shell(folder, "trap 'echo ended >gone; exit 1' TERM; : >begun; while :; do sleep 0.1; done"), progress,
      begun);
  TEST_ASSERT_TRUE(!status.ok() && status.error().kind == ErrorKind::kUnavailable);
  TEST_ASSERT_EQUAL_STRING("ended\n", read_text_file(folder / "gone").value().c_str());
}

TEST("Progress is read from what the package tools and our own script say") {
  const CommandProgress packages = package_progress(
      "0 upgraded, 2 newly installed, 0 to remove\nUnpacking a (1) ...\nUnpacking b (1) ...\nSetting up a "
      "(1) "
      "...\n0 upgraded, 10 newly installed, 0 to remove\n");
  TEST_ASSERT_EQUAL_size_t(3, packages.done);
  TEST_ASSERT_EQUAL_size_t(24, packages.total);
  TEST_ASSERT_EQUAL_size_t(0, package_progress("").total);
  TEST_ASSERT_EQUAL_STRING("root file system: two",
                           step_progress("aflguard-step: one\nx\naflguard-step: two\ny\n").what.c_str());
  TEST_ASSERT_EQUAL_STRING("root file system", step_progress("").what.c_str());
}
