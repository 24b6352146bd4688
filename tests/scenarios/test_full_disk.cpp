#include <csignal>

#include "core/aggregation/guards/async_sgd.h"
#include "core/recording/replay.h"
#include "tests/scenarios/live_fleet.h"
#include "tests/support/small_disk.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kDiskMegabytes = 8;

LiveFleetOptions options(const std::string& store, const std::string& recording) {
  LiveFleetOptions options;
  options.features = 20'000;
  options.store_file = store;
  if (!recording.empty()) options.gateway_extra = "[recording]\nfolder = \"" + recording + "\"\n";
  return options;
}

std::uint64_t figure(const std::string& metrics, const std::string& name) {
  return nlohmann::json::parse(metrics).at(name).get<std::uint64_t>();
}

}  // namespace

TEST("With a full disk the gateway says so and answers nothing; with room again, everything once") {
  LiveFleet fleet(options("disk/gateway.db", "disk/recording"));
  SmallDisk disk(fleet.path() / "disk", kDiskMegabytes);
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 1)).accepted);
  disk.fill();
  std::vector<Bytes> updates;
  for (std::uint64_t sequence = 2; sequence <= 20; ++sequence) {
    updates.push_back(device.seal(device.update(sequence, 0, 1)));
  }
  for (const Bytes& update : updates) device.send(update);
  fleet.wait_for_state("alert");
  const std::string failing =
      fleet.wait_for_metrics([](const std::string& text) { return figure(text, "commit_failures") >= 2; });
  ASSERT_CONTAINS(fleet.gateway_log(), "nothing is answered until it can");
  TEST_ASSERT_EQUAL_UINT64(1, fleet.count_in_log("nothing is answered until it can"));
  // What is answered was in the store before: the disk was never quite full enough for those.
  TEST_ASSERT_TRUE(figure(failing, "replies") <= fleet.history().size());
  TEST_ASSERT_TRUE(fleet.history().size() < 20);

  disk.make_room();
  fleet.wait_for_state("ready");
  for (std::uint64_t sequence = 2; sequence <= 20; ++sequence) {
    TEST_ASSERT_TRUE(device.insist(device.update(sequence, 0, 1)).accepted);
  }
  const auto history = fleet.history();
  TEST_ASSERT_EQUAL_UINT64(20, history.size());
  for (std::size_t i = 0; i < history.size(); ++i) TEST_ASSERT_EQUAL_UINT64(i + 1, history[i].version);
  TEST_ASSERT_EQUAL_FLOAT(-20, fleet.stored_model()[0]);
  fleet.end_gateway(SIGTERM);
}

TEST("A gateway that starts on a full disk ends with a clear error, and goes on when there is room") {
  LiveFleet fleet(options("disk/gateway.db", "disk/recording"));
  SmallDisk disk(fleet.path() / "disk", kDiskMegabytes);
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 1)).accepted);
  fleet.end_gateway(SIGKILL);
  disk.fill();
  fleet.launch_gateway();
  TEST_ASSERT_EQUAL_INT(1, fleet.wait_for_gateway_end());
  ASSERT_CONTAINS(fleet.gateway_log(), "aflguard-gateway: ");
  ASSERT_CONTAINS(fleet.gateway_log(), (fleet.path() / "disk").string());
  disk.make_room();
  fleet.start_gateway();
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 1)).accepted);
  TEST_ASSERT_TRUE(device.insist(device.update(2, 0, 1)).accepted);
  TEST_ASSERT_EQUAL_UINT64(2, fleet.history().size());
  fleet.end_gateway(SIGTERM);
  const GuardKind kinds[] = {async_sgd_kind()};
  Replay replay(kinds);
  const auto segments = recording_segments(fleet.path() / "disk/recording").value();
  for (const auto& segment : segments) ASSERT_OK(replay.run(RecordingReader::open(segment).value()));
  TEST_ASSERT_EQUAL_UINT64(2, replay.result().updates);
  TEST_ASSERT_EQUAL_UINT64(0, replay.result().disagreed);
}

TEST("When only the recording's disk is full, the recording ends and the fleet goes on") {
  LiveFleet fleet(options("gateway.db", "disk/recording"));
  SmallDisk disk(fleet.path() / "disk", kDiskMegabytes);
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    TEST_ASSERT_TRUE(device.insist(device.update(sequence, 0, 1)).accepted);
  }
  disk.fill();
  for (std::uint64_t sequence = 4; sequence <= 6; ++sequence) {
    TEST_ASSERT_TRUE(device.insist(device.update(sequence, 0, 1)).accepted);
  }
  TEST_ASSERT_EQUAL_UINT64(1, fleet.count_in_log("the recording ends here, the fleet goes on"));
  TEST_ASSERT_EQUAL_UINT64(6, fleet.history().size());
  fleet.end_gateway(SIGTERM);
  const GuardKind kinds[] = {async_sgd_kind()};
  Replay replay(kinds);
  const auto segments = recording_segments(fleet.path() / "disk/recording").value();
  ASSERT_OK(replay.run(RecordingReader::open(segments.at(0)).value()));
  TEST_ASSERT_EQUAL_UINT64(0, replay.result().disagreed);
  TEST_ASSERT_TRUE(replay.result().updates >= 3);
}
