#include <csignal>

#include "core/aggregation/guards/all_guards.h"
#include "core/identity/name_list.h"
#include "core/recording/replay.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/scenarios/live_fleet.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

TEST("An update is judged, made durable, and answered with a signed verdict that carries the new model") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  device.send(device.seal(device.update(1, 0, 0.25F)));
  const VerdictMessage verdict = device.next_verdict();
  TEST_ASSERT_TRUE(verdict.accepted);
  TEST_ASSERT_EQUAL_UINT64(1, verdict.sequence);
  TEST_ASSERT_EQUAL_UINT64(1, verdict.version);
  TEST_ASSERT_EQUAL_UINT64(1, verdict.highest_sequence);
  TEST_ASSERT_TRUE(verdict.model.has_value());
  for (const float parameter : verdict.model->vector) TEST_ASSERT_EQUAL_FLOAT(-0.25F, parameter);
  const auto history = fleet.history();
  TEST_ASSERT_EQUAL_UINT64(1, history.size());
  TEST_ASSERT_EQUAL_FLOAT(-0.25F, fleet.stored_model()[0]);
}

TEST("A repeated update gets its stored verdict again and is applied once, before and after a restart") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  const UpdateMessage update = device.update(7, 0, 1);
  const VerdictMessage first = device.insist(update);
  const VerdictMessage again = device.insist(update);
  TEST_ASSERT_EQUAL_UINT64(first.version, again.version);
  fleet.end_gateway(SIGKILL);
  fleet.start_gateway();
  const VerdictMessage later = device.insist(update);
  TEST_ASSERT_EQUAL_UINT64(first.version, later.version);
  TEST_ASSERT_TRUE(later.accepted);
  TEST_ASSERT_EQUAL_UINT64(1, fleet.history().size());
  TEST_ASSERT_EQUAL_FLOAT(-1, fleet.stored_model()[0]);
}

TEST("An update that is repeated under a new key, after the old one has ended, gets its stored verdict too") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.start_gateway();
  std::optional<HandDevice> device(std::in_place, fleet, "pi-1");
  const UpdateMessage update = device->update(7, 0, 1);
  const Bytes old = device->seal(update);
  const VerdictMessage first = device->insist(update);
  fleet.renew("pi-1");
  fleet.wait_for_log("the device book has changed");
  device.emplace(fleet, "pi-1");
  device->send(old);
  fleet.wait_for_refusals("unknown-key", 1);
  const VerdictMessage again = device->insist(update);
  TEST_ASSERT_TRUE(again.accepted);
  TEST_ASSERT_EQUAL_UINT64(first.version, again.version);
  TEST_ASSERT_EQUAL_UINT64(1, fleet.history().size());
  TEST_ASSERT_EQUAL_UINT64(1, fleet.devices().size());
}

TEST("The guard of the configuration judges: AFLGuard takes what is near the server's update only") {
  LiveFleet fleet({.guard = "aflguard", .learning_rate = 0.01});
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 0)).accepted);
  const VerdictMessage far = device.insist(device.update(2, 1, 1000));
  TEST_ASSERT_FALSE(far.accepted);
  TEST_ASSERT_EQUAL_UINT8(static_cast<std::uint8_t>(Reason::kTooFar), far.reason);
  TEST_ASSERT_TRUE(far.distance > far.bound && far.bound > 0);
  const auto metrics = nlohmann::json::parse(fleet.wait_for_metrics(
      [](const std::string& text) { return nlohmann::json::parse(text).at("rejected").get<int>() == 1; }));
  TEST_ASSERT_EQUAL_INT(1, metrics.at("rejected_by").at("too-far").get<int>());
  TEST_ASSERT_EQUAL_INT(1, metrics.at("accepted").get<int>());
}

TEST(
    "SIGTERM ends the gateway cleanly: what had arrived is answered, and the next start goes on from there") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  for (std::uint64_t i = 1; i <= 20; ++i) device.send(device.seal(device.update(i, 0, 1)));
  fleet.end_gateway(SIGTERM);
  ASSERT_CONTAINS(fleet.gateway_log(), "stopping");
  const std::size_t judged = fleet.history().size();
  fleet.start_gateway();
  for (std::uint64_t i = 1; i <= 20; ++i) TEST_ASSERT_TRUE(device.insist(device.update(i, 0, 1)).accepted);
  TEST_ASSERT_TRUE(judged <= 20);
  TEST_ASSERT_EQUAL_UINT64(20, fleet.history().size());
  TEST_ASSERT_EQUAL_FLOAT(-20, fleet.stored_model()[0]);
}

TEST("Devices that are added and revoked while the gateway runs are known and refused within moments") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.start_gateway();
  fleet.enrol("pi-2");
  HandDevice second(fleet, "pi-2");
  TEST_ASSERT_TRUE(second.insist(second.update(1, 0, 1)).accepted);
  fleet.wait_for_log("2 devices, before 1");
  fleet.revoke("pi-2");
  fleet.wait_for_log("1 devices, before 2");
  second.send(second.seal(second.update(2, 0, 1)));
  fleet.wait_for_refusals("revoked", 1);
  TEST_ASSERT_EQUAL_UINT64(1, fleet.history().size());
}

TEST("A guard with other settings, or other defaults, keeps the model and starts its own memory again") {
  LiveFleetOptions options;
  options.guard = "span-guard";
  options.guard_extra = "options = { directions = 5 }\n";
  LiveFleet fleet(options);
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, -0.125F)).accepted);
  fleet.end_gateway(SIGTERM);
  fleet.change_config("options = { directions = 5 }\n", "");
  fleet.start_gateway();
  // The defaults are written out: what a store says keeps its meaning when they change.
  ASSERT_CONTAINS(fleet.gateway_log(), "directions=5 discount=0.98999999999999999");
  ASSERT_CONTAINS(fleet.gateway_log(), "directions=8 discount=0.98999999999999999");
  const VerdictMessage verdict = device.insist(device.update(2, 1, -0.125F));
  TEST_ASSERT_TRUE(verdict.accepted);
  TEST_ASSERT_EQUAL_UINT64(2, verdict.version);
}

namespace {

void reload(LiveFleet& fleet, const std::string& logged) {
  const std::size_t before = fleet.count_in_log(logged);
  ::kill(fleet.gateway_pid(), SIGHUP);
  fleet.wait_for_log(logged, before + 1);
}

}  // namespace

TEST("SIGHUP: lambda, learning rate and guard change while the gateway runs, and a replay agrees") {
  LiveFleet fleet({.guard = "aflguard",
                   .guard_extra = "lambda = 1e6\n",
                   .gateway_extra = "[recording]\n",
                   .learning_rate = 0.01});
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 0)).accepted);
  fleet.change_config("lambda = 1e6", "lambda = 1e-6");
  reload(fleet, "settings read again: in force now: [guard] lambda");
  // The change goes the way of the updates: what is judged after it was read may still be before it.
  std::uint64_t sequence = 2;
  while (device.insist(device.update(sequence, 0, 0.5F)).accepted) ++sequence;
  fleet.change_config("name = \"aflguard\"", "name = \"asyncsgd\"");
  fleet.change_config("learning_rate = 0.01", "learning_rate = 2.0");
  reload(fleet, "settings read again: in force now: [guard] name, [training] learning_rate");
  VerdictMessage verdict;
  do {
    const float before = fleet.stored_model()[0];
    verdict = device.insist(device.update(++sequence, 0, 1));
    if (verdict.accepted && verdict.model) {
      TEST_ASSERT_EQUAL_FLOAT(before - 2, verdict.model->vector[0]);
      TEST_ASSERT_EQUAL_DOUBLE(2.0, verdict.model->learning_rate);
    }
  } while (!verdict.accepted);
  TEST_ASSERT_EQUAL_INT(0, fleet.end_gateway(SIGTERM));
  const auto replay = replay_recording(fleet.path() / "recording", all_guards());
  ASSERT_OK(replay);
  TEST_ASSERT_EQUAL_UINT64(0, replay->disagreed);
  TEST_ASSERT_EQUAL_UINT64(0, replay->not_recorded);
  TEST_ASSERT_EQUAL_UINT64(3, replay->segments);
  TEST_ASSERT_EQUAL_UINT64(fleet.history().size(), replay->updates);
  fleet.start_gateway();  // the store knows which guard its state is of
  TEST_ASSERT_EQUAL_size_t(0, fleet.count_in_log("what the guard remembered does not"));
}

TEST(
    "SIGHUP with a file that is not valid changes nothing and says why; keys that need a restart are named") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  fleet.change_config("learning_rate = ", "learning_rate = -");
  reload(fleet, "settings stay as they are: ");
  ASSERT_CONTAINS(fleet.gateway_log(), "[training] learning_rate is -");
  fleet.change_config("learning_rate = -", "learning_rate = ");
  fleet.change_config("name = \"asyncsgd\"", "name = \"span-guard\"");
  reload(fleet, "settings stay as they are: ");
  fleet.change_config("name = \"span-guard\"", "name = \"asyncsgd\"");
  fleet.change_config("batch_size = ", "batch_size = 1");
  reload(fleet, "settings read again: in force after a restart: [training] batch_size");
  const VerdictMessage verdict = device.insist(device.update(1, 0, 0.25F));
  TEST_ASSERT_TRUE(verdict.accepted);
  TEST_ASSERT_EQUAL_FLOAT(-0.25F, fleet.stored_model()[0]);
}

TEST(
    "A learning rate that diverges is found by --test-config, and on a running gateway by what the guard "
    "still takes") {
  LiveFleet fleet({.guard = "aflguard",
                   .guard_extra = "lambda = 1e6\nreference_interval = 1\nreference_share = 1\n",
                   .learning_rate = 0.1});
  const auto checked = [&] {
    return run_program({LiveFleet::gateway_program(), "--config", fleet.config().string(), "--test-config"},
                       fleet.path());
  };
  TEST_ASSERT_EQUAL_INT(0, checked().value().exit_code);
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  std::uint64_t sequence = 0;
  float value = 1;
  while (fleet.count_in_log("the model diverges") == 0 && sequence < 200) {
    ++sequence;
    (void)device.insist(device.update(sequence, sequence - 1, value));
    value *= -1.7F;  // each step goes further beyond the best model than the one before
  }
  fleet.wait_for_log("the model diverges");
  fleet.wait_for_state("alert");
  (void)fleet.wait_for_metrics([](const std::string& text) {
    return nlohmann::json::parse(text).at("troubles").dump().find("reference") != std::string::npos;
  });
  fleet.change_config("learning_rate = 0.1", "learning_rate = 9.1");
  const ProgramOutcome diverges = checked().value();
  TEST_ASSERT_EQUAL_INT(1, diverges.exit_code);
  ASSERT_CONTAINS(diverges.output, "[training] learning_rate 9.1 is too high");
}

TEST("A paused device is told so within a second, and goes on where it was when it is resumed") {
  LiveFleet fleet;
  fleet.enrol("pi-1");
  fleet.enrol("pi-2");
  fleet.change_config("[devices]\n", "[devices]\npaused = \"paused\"\n");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  HandDevice other(fleet, "pi-2");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 0.5F)).accepted);
  ASSERT_OK(write_name_list(fleet.path() / "paused", {"pi-1"}));
  fleet.wait_for_log("list of paused devices read again: 1 devices, before 0");
  const UpdateMessage waiting = device.update(2, 1, 0.5F);
  const RefusalMessage refusal = device.insist_on_refusal(device.seal(waiting));
  TEST_ASSERT_TRUE(refusal.reason == RefusalReason::kPaused);
  TEST_ASSERT_TRUE(refusal.proven);
  TEST_ASSERT_TRUE(refusal.come_back == std::chrono::minutes(5));
  TEST_ASSERT_TRUE(other.insist(other.update(1, 1, 0.5F)).accepted);
  ASSERT_OK(write_name_list(fleet.path() / "paused", {"no such name"}));
  fleet.wait_for_log("the list of paused devices stays as it was: ");
  ASSERT_OK(write_name_list(fleet.path() / "paused", {}));
  fleet.wait_for_log("list of paused devices read again: 0 devices, before 1");
  TEST_ASSERT_TRUE(device.insist(waiting).accepted);
}

TEST("[alerts]: a command is told of a lost board, and that it is back; a section without a way is refused") {
  LiveFleet fleet({.gateway_extra =
                       "[alerts]\nlost_seconds = 0\ncommand = [\"sh\", \"-c\", \"echo $AFLGUARD_ALERT_KIND "
                       "$AFLGUARD_ALERT_STATE $AFLGUARD_ALERT_DEVICE >> told\"]\n"});
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  const auto say = [&](const std::string& state) {
    const std::string text =
        R"({"schema":"aflguard-device-status-1","device":"pi-1","state":")" + state + "\"}";
    const auto bytes = std::as_bytes(std::span(text));
    ASSERT_OK(device.bus().publish({.topic = "aflguard/v1/orchard/up/pi-1/status",
                                    .payload = {bytes.begin(), bytes.end()},
                                    .retained = true}));
  };
  const auto told = [&] {
    const auto text = read_text_file(fleet.path() / "told");
    return text.ok() ? *text : std::string();
  };
  say("lost");
  wait_until("the command is told", [&] { return told() == "device-lost problem pi-1\n"; });
  say("training");
  wait_until("the command is told that it is over",
             [&] { return told() == "device-lost problem pi-1\ndevice-lost over pi-1\n"; });
  TEST_ASSERT_EQUAL_INT(0, fleet.end_gateway(SIGTERM));
  fleet.change_config("command = ", "webhook = \"https://example.org\" # ");
  const ProgramOutcome refused =
      run_program({LiveFleet::gateway_program(), "--config", fleet.config().string(), "--test-config"},
                  fleet.path())
          .value();
  TEST_ASSERT_EQUAL_INT(1, refused.exit_code);
  ASSERT_CONTAINS(refused.output, "for https, give a command");
}
