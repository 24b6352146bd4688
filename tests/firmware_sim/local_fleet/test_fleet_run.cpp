// A fleet of real programs from its first certificate to its last verdict.
#include "core/learning_onnx/onnx_trainer.h"
#include "core/transport_mqtt/mqtt_bus.h"
#include "firmware_sim/local_fleet/fleet_run.h"
#include "firmware_sim/local_fleet/running_fleet.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"

using namespace aflguard;
using namespace aflguard::sim;
namespace fs = std::filesystem;

namespace {

ClientFleet make_small(const fs::path& folder, std::uint64_t updates) {
  if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  ClientFleetRequest request{.name = "small", .viewer = "watcher", .dataset = "synthetic", .clients = 3};
  request.malicious = 1;
  request.updates = updates;
  auto made = make_client_fleet(request, folder);
  ASSERT_OK(made);
  return std::move(made).value();
}

Result<std::unique_ptr<MessageBus>> connect(const fleet::ViewerIdentity& identity, LogSink& log) {
  MqttOptions options;
  options.host = identity.host;
  options.port = identity.port;
  options.client_id = identity.name;
  options.tls = TlsFiles{identity.authority(), identity.certificate(), identity.key()};
  TRY(auto bus, MqttBus::create(options, log));
  return std::unique_ptr<MessageBus>(std::move(bus));
}

FleetRunOptions small_options() {
  return {.viewer = "watcher",
          .bus = connect,
          .programs = testing::programs_folder(),
          .make_trainer = [](const ModelPackage& package) -> Result<std::unique_ptr<Trainer>> {
            TRY(auto runtime, OnnxRuntime::load());
            return make_onnx_trainer(std::move(runtime), package);
          }};
}

}  // namespace

TEST("Verdicts are counted by the kind of client; devices that the fleet did not make are not") {
  const gateway::FleetProgress progress = {
      .iteration = 9,
      .version = 5,
      .devices = {{1, "pi-01", 3, 1}, {2, "pi-02", 2, 0}, {3, "pi-03", 0, 2}, {4, "guest", 0, 1}},
      .evaluation = gateway::EvaluationRecord{.test_error = 0.25}};
  const std::vector<FleetClient> clients = {
      {"pi-01", false, 1, {}}, {"pi-02", false, 1, {}}, {"pi-03", true, 1, {}}};
  const FleetRunState state = run_state(progress, clients);
  TEST_ASSERT_EQUAL_UINT64(9, state.updates);
  TEST_ASSERT_EQUAL_UINT64(5, state.version);
  TEST_ASSERT_EQUAL_UINT64(5, state.honest.accepted);
  TEST_ASSERT_EQUAL_UINT64(1, state.honest.rejected);
  TEST_ASSERT_EQUAL_UINT64(0, state.malicious.accepted);
  TEST_ASSERT_EQUAL_UINT64(2, state.malicious.rejected);
  TEST_ASSERT_EQUAL_DOUBLE(0.25, state.test_error.value());
}

TEST("A fleet runs until enough updates are judged, and its results are kept without its keys") {
  const testing::TemporaryFolder folder;
  ClientFleet made = make_small(folder.path(), 60);
  std::uint64_t shown = 0;
  FleetRunOptions options = small_options();
  options.show = [&shown](const FleetRunState& state) { shown = state.updates; };
  const auto outcome = run_fleet(made, options);
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_STRING("", outcome->remark.c_str());
  TEST_ASSERT_TRUE(shown >= 60 && outcome->state.updates >= shown);
  TEST_ASSERT_TRUE(outcome->state.honest.accepted > 0);
  TEST_ASSERT_EQUAL_UINT64(0, outcome->state.malicious.accepted);
  TEST_ASSERT_TRUE(outcome->test_error > 0);
  keep_results(made);
  TEST_ASSERT_FALSE(fs::exists(folder / "fleet"));
  for (const fs::path& kept : {made.store, made.recording, folder / "logs"}) {
    TEST_ASSERT_TRUE_MESSAGE(fs::exists(kept), kept.c_str());
  }
  const auto store = gateway::StoreReader::open(made.store);
  ASSERT_OK(store);
}

TEST("A run ends when the user wants to stop, and stops its programs") {
  const testing::TemporaryFolder folder;
  const ClientFleet made = make_small(folder.path(), 1'000'000);
  std::uint64_t judged = 0;
  FleetRunOptions options = small_options();
  options.pause = [&judged](std::chrono::milliseconds time) { return sleep_on(time) || judged > 0; };
  options.show = [&judged](const FleetRunState& state) { judged = state.updates; };
  ASSERT_CONTAINS(testing::message_of(run_fleet(made, options)), "interrupted");
  TEST_ASSERT_TRUE(judged > 0);
  // The broker's port is free again: it has ended.
  RunningFleet again(made.root, folder / "again", {.programs = testing::programs_folder()});
  ASSERT_OK(again.launcher().start_broker());
}
