#include <csignal>

#include "core/system/atomic_file.h"
#include "firmware_sim/local_fleet/child_programs.h"
#include "tests/support/test.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::sim;

namespace {

/// Says its name, and again when it is told to stop.
Command speaker(const testing::TemporaryFolder& folder, const std::string& name) {
  return {{"sh", "-c",
           "trap 'echo " + name + " stops >>order; exit 0' TERM; echo up; while :; do sleep 0.02; done"},
          folder.path(),
          folder / (name + ".log")};
}

void wait_for_log(const std::filesystem::path& log) {
  testing::wait_until(log.string(), [&] { return std::filesystem::file_size(log) > 0; });
}

}  // namespace

TEST("Clients stop before the gateway, and the broker stops last") {
  const testing::TemporaryFolder folder;
  ChildPrograms programs;
  for (const char* name : {"broker", "gateway", "pi-1"}) {
    ASSERT_OK(programs.start(name, speaker(folder, name)));
    wait_for_log(folder / (std::string(name) + ".log"));
    TEST_ASSERT_TRUE(programs.pid(name) > 0);
  }
  ASSERT_OK(programs.check_running());
  programs.stop();
  TEST_ASSERT_EQUAL_STRING("pi-1 stops\ngateway stops\nbroker stops\n",
                           read_text_file(folder / "order").value().c_str());
  TEST_ASSERT_TRUE(programs.pid("gateway") < 0);
}

TEST("A program that has ended is named, with the last words of its log") {
  const testing::TemporaryFolder folder;
  ChildPrograms programs;
  ASSERT_OK(programs.start("pi-1", speaker(folder, "pi-1")));
  ASSERT_OK(programs.start(
      "gateway", {{"sh", "-c", "echo the store is damaged; exit 3"}, folder.path(), folder / "gateway.log"}));
  Status status;
  testing::wait_until("the gateway has ended", [&] {
    status = programs.check_running("gateway");
    return !status.ok();
  });
  ASSERT_CONTAINS(testing::message_of(status), "the gateway ended with code 3");
  ASSERT_CONTAINS(testing::message_of(status), "the store is damaged");
  ASSERT_OK(programs.check_running("pi-1"));
}
