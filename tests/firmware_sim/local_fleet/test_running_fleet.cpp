// A fleet of real programs: Mosquitto, aflguard-gateway and aflguard-client.
#include <csignal>

#include "core/system/atomic_file.h"
#include "core/telemetry/program_facts.h"
#include "firmware_sim/local_fleet/client_fleet.h"
#include "firmware_sim/local_fleet/running_fleet.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

using namespace aflguard;
using namespace aflguard::sim;
namespace fs = std::filesystem;

namespace {

struct SmallFleet {
  testing::TemporaryFolder folder;
  ClientFleet made;
  std::vector<ClientCommand> clients;

  explicit SmallFleet(std::size_t malicious = 0) {
    if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
    ClientFleetRequest request{.name = "small", .viewer = "", .dataset = "synthetic", .clients = 2};
    request.malicious = malicious;
    request.recording = false;
    auto fleet = make_client_fleet(request, folder.path());
    ASSERT_OK(fleet);
    made = std::move(*fleet);
    auto commands = made.commands(testing::programs_folder());
    ASSERT_OK(commands);
    clients = std::move(*commands);
  }
  [[nodiscard]] fs::path logs() const { return folder / "logs"; }
};

std::size_t verdicts(std::string_view log, bool accepted) {
  std::size_t found = 0;
  for_each_fact(log, [&](const ProgramFact& fact) {
    const auto* verdict = std::get_if<VerdictFact>(&fact);
    found += verdict != nullptr && verdict->accepted == accepted ? 1 : 0;
  });
  return found;
}

}  // namespace

TEST("A fleet starts from its folder alone, learns, and leaves its logs when it has stopped") {
  const SmallFleet small;
  RunningFleet fleet(small.made.root, small.logs(), {.programs = testing::programs_folder()});
  ASSERT_OK(fleet.start(small.clients));
  for (const FleetClient& client : small.made.clients) {
    ASSERT_OK(fleet.launcher().wait_for_client(client.name));
    ASSERT_OK(fleet.launcher().wait_for(client.name, "gets no verdict",
                                        [](std::string_view log) { return verdicts(log, true) > 0; }));
  }
  ASSERT_OK(fleet.check_running());
  const pid_t gateway = fleet.programs().pid(kGatewayProgram);
  TEST_ASSERT_TRUE(gateway > 0 && ::kill(gateway, 0) == 0);
  fleet.stop();
  TEST_ASSERT_TRUE(::kill(gateway, 0) != 0);
  for (const char* name : {"broker", "gateway", "pi-01", "pi-02"}) {
    TEST_ASSERT_TRUE_MESSAGE(fs::file_size(fleet.log(name)) > 0, name);
  }
  TEST_ASSERT_TRUE(fs::exists(small.made.store));
}

TEST("A malicious client of the fleet is started as one, and rejected") {
  const SmallFleet small(/*malicious=*/1);
  RunningFleet fleet(small.made.root, small.logs(), {.programs = testing::programs_folder()});
  ASSERT_OK(fleet.start(small.clients));
  for (const FleetClient& client : small.made.clients) {
    const bool honest = !client.malicious;
    ASSERT_OK(fleet.launcher().wait_for(client.name, "gets no such verdict", [honest](std::string_view log) {
      return verdicts(log, honest) > 0;
    }));
  }
}

TEST("A gateway that is started again is waited for again") {
  const SmallFleet small;
  RunningFleet fleet(small.made.root, small.logs(), {.programs = testing::programs_folder()});
  ASSERT_OK(fleet.launcher().start_broker());
  for (int i = 0; i < 2; ++i) {
    ASSERT_OK(fleet.launcher().start_gateway());
    TEST_ASSERT_TRUE(says_ready(fleet.launcher().written(kGatewayProgram)));
    fleet.programs().stop_gateway();
  }
  // Both are in the log, and only the second belongs to the start that was waited for.
  std::size_t starts = 0;
  for_each_fact(read_text_file(fleet.log("gateway")).value(), [&](const ProgramFact&) { ++starts; });
  TEST_ASSERT_EQUAL_size_t(2, starts);
}

TEST("A gateway that does not take its configuration is refused before anything starts") {
  const SmallFleet small;
  const fs::path file = small.made.root.gateway() / "gateway.toml";
  ASSERT_OK(write_file_atomically(file, read_text_file(file).value() + "\n[nonsense]\n"));
  RunningFleet fleet(small.made.root, small.logs(), {.programs = testing::programs_folder()});
  const Status refused = fleet.start(small.clients);
  ASSERT_CONTAINS(testing::message_of(refused), "the gateway does not take");
  ASSERT_CONTAINS(testing::message_of(refused), "nonsense");
  TEST_ASSERT_TRUE(fleet.programs().pid(kBrokerProgram) < 0);
}

TEST("A broker that cannot run is named, with the end of its log") {
  const SmallFleet small;
  RunningFleet first(small.made.root, small.logs() / "first", {.programs = testing::programs_folder()});
  ASSERT_OK(first.launcher().start_broker());
  RunningFleet second(small.made.root, small.logs() / "second", {.programs = testing::programs_folder()});
  const Status refused = second.launcher().start_broker();
  ASSERT_CONTAINS(testing::message_of(refused), "the broker ended with code");
  ASSERT_CONTAINS(testing::message_of(refused), "second/broker.log");
}

TEST("Waiting ends when the user wants to stop, and when it takes too long") {
  const SmallFleet small;
  RunningFleet stopped(
      small.made.root, small.logs(),
      {.pause = [](std::chrono::milliseconds) { return true; }, .programs = testing::programs_folder()});
  ASSERT_CONTAINS(testing::message_of(stopped.launcher().start_broker()), "interrupted");
  stopped.stop();
  RunningFleet late(small.made.root, small.logs(),
                    {.timeout = std::chrono::seconds(0), .programs = testing::programs_folder()});
  ASSERT_CONTAINS(testing::message_of(late.launcher().wait_for(kBrokerProgram, "does not run",
                                                               [](std::string_view) { return false; })),
                  "the broker does not run after 0 s");
}
