#include <filesystem>
#include <memory>

#include "core/base/random.h"
#include "core/envelope/refusal_message.h"
#include "core/transport/in_process_broker.h"
#include "edge_client/client_engine.h"
#include "tests/edge_client/broker_clock.h"
#include "tests/edge_client/gateway_stand_in.h"
#include "tests/edge_client/kept_log.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kDimension = 10'000;  // three pieces
/// Slow enough that a device can be killed before anything of an update has arrived.
constexpr LinkFaults kSlowLink{.shortest_delay = 5ms, .longest_delay = 5ms};

/// Sends the model's version in every coordinate.
class EchoTraining final : public LocalTraining {
 public:
  [[nodiscard]] Result<TrainedUpdate> train(const ModelMessage& model, const KeepGoing&) override {
    ++calls;
    if (problem) return *problem;
    if (noise) return TrainedUpdate{noise_for(model.version), 32, 0.5};
    return TrainedUpdate{std::vector<float>(kDimension, static_cast<float>(model.version)), 32, 0.5};
  }
  [[nodiscard]] static std::vector<float> noise_for(std::uint64_t version) {
    Random random(version);
    std::vector<float> numbers(kDimension);
    for (float& number : numbers) number = static_cast<float>(random.normal());
    return numbers;
  }
  bool noise = false;  ///< sends random numbers instead, which compress badly
  int calls = 0;
  std::optional<Error> problem;
};

ModelMessage first_model() {
  ModelMessage model;
  model.fleet = "orchard";
  model.version = 100;
  model.model_hash[0] = 7;
  model.batch_size = 32;
  model.learning_rate = 0.1;
  model.vector.assign(kDimension, 0.25F);
  return model;
}

/// One device and its gateway around a broker, in one thread.
struct World {
  explicit World(const LinkFaults& faults = {}) : broker(1, faults), clock(broker) {
    ASSERT_OK(devices.add("pi-1", device_key.public_key()));
    ASSERT_OK(gateways.add("gateway", gateway_key.public_key()));
    change_gateway(first_model());
    settings.membership = {"orchard", "pi-1", first_model().model_hash, kDimension};
    settings.jitter_seed = 3;
    settings.software = "test";
  }

  /// A new one that has judged nothing yet, in the fleet of `model`.
  void change_gateway(const ModelMessage& model) {
    gateway.reset();
    gateway_bus.reset();
    gateway_bus = broker.client("gateway");
    gateway = std::make_unique<GatewayStandIn>(*gateway_bus, gateway_key, devices, model);
    gateway->start();
  }

  void start_device() {
    spool.emplace(UpdateSpool::open(folder / "state").value());
    const auto topics = FleetTopics::create(settings.membership.fleet).value();
    bus = broker.client("pi-1", LastWill{{topics.device_status(settings.membership.device), {}, true}});
    engine = std::make_unique<ClientEngine>(settings, TrainingSchedule(schedule), topics,
                                            EngineParts{*bus, *sealer, opener, verifier, training, *spool,
                                                        clock, log, [] { return 0ns; }, [] { return true; }});
    ASSERT_OK(engine->start());
  }
  /// Power loss: nothing is said to anybody.
  void kill_device() {
    broker.cut("pi-1");
    engine.reset();
    bus.reset();
    spool.reset();
    broker.restore("pi-1");
  }

  /// While the board was off it got a new key for `device`, and the fleet knows no other any more.
  void replace_identity(const std::string& device) {
    settings.membership.device = device;
    device_key = MbedtlsSigner::generate().value();
    sealer.emplace(device_key);
    devices = KeyTable();
    ASSERT_OK(devices.add(device, device_key.public_key()));
  }
  /// The first update lies in the spool of a board that is off, and nobody has seen it.
  void leave_update_waiting() {
    gateway->publish_model();
    start_device();
    TEST_ASSERT_TRUE(run_until([&] { return training.calls == 1; }));
    kill_device();
    TEST_ASSERT_FALSE(run_until([&] { return !gateway->seen.empty(); }, 60s));
  }
  /// Update 1 is never sent again; update 2 is judged, and the log says why.
  void assert_first_dropped(const std::string& why) {
    gateway->publish_model();
    start_device();
    TEST_ASSERT_TRUE(run_until_verdicts(1));
    TEST_ASSERT_EQUAL_UINT64(2, gateway->seen.front().message.sequence);
    TEST_ASSERT_TRUE(gateway->refused.empty());
    ASSERT_CONTAINS(log.text,
                    "update 1, which waited for its verdict since the last run, is dropped (" + why);
  }

  /// Both sides work until `done`, at most `span` of virtual time; true when it came.
  bool run_until(const std::function<bool()>& done, std::chrono::microseconds span = 600s) {
    const auto end = broker.now() + span;
    while (!done() && broker.now() < end) {
      broker.advance(1ms);
      while (auto event = gateway_bus->next_event({})) gateway->handle(*event);
      if (!engine) continue;
      while (auto event = bus->next_event({})) engine->handle(std::move(*event));
      const auto next = engine->step();
      // Nothing is under way: on to the next thing that is due.
      if (!done() && next > clock.steady() + 2ms && quiet++ > 20) {
        broker.advance(std::min<std::chrono::microseconds>(
            std::chrono::duration_cast<std::chrono::microseconds>(next - clock.steady()), 1s));
      } else if (next <= clock.steady() + 2ms) {
        quiet = 0;
      }
    }
    return done();
  }
  bool run_until_verdicts(std::uint64_t count) {
    return run_until([&, count] { return *engine->status().accepted + *engine->status().rejected >= count; });
  }

  /// As the gateway would refuse the latest update.
  [[nodiscard]] RefusalMessage refusal(RefusalReason reason, std::chrono::milliseconds come_back) const {
    RefusalMessage refusal;
    refusal.fleet = "orchard";
    refusal.device = "pi-1";
    refusal.transfer = transfer_id_of(gateway->seen.back().envelope);
    refusal.reason = reason;
    refusal.proven = proven;
    refusal.come_back = come_back;
    refusal.text = "because";
    return refusal;
  }
  void send_refusal(const RefusalMessage& refusal) {
    gateway->send(refusal.device, gateway->sealed(encode(refusal).value()));
  }
  /// Every update gets that answer, and no verdict.
  void refuse_all(RefusalReason reason, std::chrono::milliseconds come_back) {
    gateway->answer = [this, reason, come_back] {
      ++refusals_sent;
      send_refusal(refusal(reason, come_back));
    };
  }
  void refuse_nothing() { gateway->answer = {}; }
  [[nodiscard]] bool status_says(const std::string& text) const {
    return !gateway->statuses.empty() && gateway->statuses.back().find(text) != std::string::npos;
  }
  std::size_t refusals_sent = 0;
  bool proven = true;

  TemporaryFolder folder;
  InProcessBroker broker;
  BrokerClock clock;
  KeptLog log;
  MbedtlsSigner device_key = MbedtlsSigner::generate().value();
  MbedtlsSigner gateway_key = MbedtlsSigner::generate().value();
  KeyTable devices;
  KeyTable gateways;
  MbedtlsVerifier verifier;
  EnvelopeOpener opener{gateways, verifier};
  std::optional<EnvelopeSealer> sealer{device_key};
  EchoTraining training;
  EngineSettings settings;
  ScheduleSettings schedule{.interval = 1s};
  std::unique_ptr<MessageBus> gateway_bus;
  std::unique_ptr<GatewayStandIn> gateway;
  std::optional<UpdateSpool> spool;
  std::unique_ptr<MessageBus> bus;
  std::unique_ptr<ClientEngine> engine;
  int quiet = 0;
};

}  // namespace

TEST("A device takes the model, sends an update, takes the verdict and its model, and goes on") {
  World world;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(3));
  TEST_ASSERT_EQUAL_size_t(3, world.gateway->applied());
  for (std::size_t i = 0; i < 3; ++i) {
    const UpdateMessage& update = world.gateway->seen[i].message;
    TEST_ASSERT_EQUAL_UINT64(i + 1, update.sequence);
    TEST_ASSERT_EQUAL_UINT64(100 + i, update.base_version);
    TEST_ASSERT_EQUAL_FLOAT(static_cast<float>(100 + i), update.vector.at(kDimension - 1));
  }
  ASSERT_CONTAINS(world.log.text, "verdict 1: accepted, version 101, delay 0");
  TEST_ASSERT_TRUE(world.gateway->refused.empty());
}

TEST("Without a model nothing is trained; the model that comes later is taken") {
  World world;
  world.start_device();
  TEST_ASSERT_FALSE(world.run_until([&] { return world.training.calls > 0; }, 120s));
  ASSERT_CONTAINS(world.gateway->statuses.back(), "\"state\":\"ready\"");
  ASSERT_CONTAINS(world.gateway->statuses.back(), "waiting for a model");
  world.gateway->publish_model();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
}

TEST("A verdict without a model sends the device to the retained one, which must be new enough") {
  World world;
  world.gateway->models_in_verdicts = false;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  // The broker still keeps version 100, and the verdict said 101.
  world.run_until([] { return false; }, 5s);
  TEST_ASSERT_EQUAL_INT(1, world.training.calls);
  world.gateway->publish_model();
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  TEST_ASSERT_EQUAL_UINT64(101, world.gateway->seen.back().message.base_version);
}

TEST("When no newer model comes for long, the one at hand will do") {
  World world;
  world.gateway->models_in_verdicts = false;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  TEST_ASSERT_EQUAL_UINT64(100, world.gateway->seen.back().message.base_version);
}

TEST("An older retained model is ignored while a newer one is known") {
  World world;
  world.schedule.interval = 3600s;  // the model has to be fetched again each time
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE(world.run_until([&] { return world.training.calls == 2; }, 7200s));
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  TEST_ASSERT_EQUAL_UINT64(101, world.gateway->seen.back().message.base_version);
}

TEST("Before training after a long pause, the newest model is fetched") {
  World world;
  world.schedule.interval = 3600s;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  world.gateway->model().version = 250;
  world.gateway->publish_model();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().accepted == 2; }, 7200s));
  TEST_ASSERT_EQUAL_UINT64(250, world.gateway->seen.back().message.base_version);
}

TEST("A gateway that went back is believed: its verdict counts, not the newer model at hand") {
  World world;
  world.gateway->models_in_verdicts = false;
  world.gateway->publish_model();
  world.gateway->change = [](VerdictMessage& verdict) {
    verdict.accepted = false;
    verdict.reason = 9;  // unknown-version
    verdict.version = 40;
  };
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.training.calls == 1; }));
  ModelMessage restored = first_model();
  restored.version = 40;
  world.gateway->publish_model(restored);
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 2; }));
  TEST_ASSERT_EQUAL_UINT64(40, world.gateway->seen.back().message.base_version);
}

TEST("A lost verdict: the same bytes go again, and nothing counts twice") {
  World world;
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 3; }));
  TEST_ASSERT_EQUAL_size_t(1, world.gateway->applied());
  TEST_ASSERT_TRUE(world.gateway->seen[0].envelope == world.gateway->seen[2].envelope);
  TEST_ASSERT_TRUE(world.gateway->seen[2].repeat);
  world.gateway->answers = true;
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_UINT64(1, *world.engine->status().accepted);
  ASSERT_CONTAINS(world.log.text, "no verdict for update 1 yet; sending it again");
}

TEST("Killed while sending, the device comes back with the same sequence number and bytes") {
  World world(kSlowLink);
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.training.calls == 1; }));
  world.kill_device();
  world.run_until([] { return false; }, 1s);
  TEST_ASSERT_EQUAL_size_t(0, world.gateway->seen.size());
  const auto spooled = UpdateSpool::open(world.folder / "state")->take_waiting();
  TEST_ASSERT_TRUE(spooled && spooled->sequence == 1);
  world.gateway->answers = true;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_UINT64(1, world.gateway->seen[0].message.sequence);
  TEST_ASSERT_TRUE(world.gateway->seen[0].envelope == spooled->envelope);
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  TEST_ASSERT_EQUAL_UINT64(2, world.gateway->seen.back().message.sequence);
}

TEST("Killed after the gateway had judged, the device asks again and gets the stored verdict") {
  World world;
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  world.kill_device();
  world.gateway->answers = true;
  world.run_until([] { return false; }, 2s);
  world.start_device();
  const auto restarted = world.broker.now();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE_MESSAGE(world.broker.now() - restarted < 5s, "the repeat is heard at once");
  TEST_ASSERT_TRUE(world.gateway->seen[1].repeat);
  TEST_ASSERT_TRUE(world.gateway->seen[0].envelope == world.gateway->seen[1].envelope);
  TEST_ASSERT_EQUAL_size_t(1, world.gateway->applied());
}

TEST("With a new key, the update that waited is signed with that one, and is the same in all else") {
  World world(kSlowLink);
  world.leave_update_waiting();
  world.replace_identity("pi-1");
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  const UpdateMessage& update = world.gateway->seen.front().message;
  TEST_ASSERT_EQUAL_UINT64(1, update.sequence);
  TEST_ASSERT_EQUAL_UINT64(100, update.base_version);
  TEST_ASSERT_EQUAL_FLOAT(100, update.vector.at(kDimension - 1));
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  TEST_ASSERT_EQUAL_UINT64(2, world.gateway->seen.back().message.sequence);
  TEST_ASSERT_TRUE(world.gateway->refused.empty());
}

TEST("Judged under the old key and asked for again under newer ones, an update counts once") {
  World world;
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  for (std::size_t seen = 1; seen <= 3; ++seen) {
    world.kill_device();
    if (seen != 2) world.replace_identity("pi-1");  // the second start has the first one's
    if (seen == 3) world.gateway->answers = true;
    world.start_device();
    TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() > seen; }));
    TEST_ASSERT_TRUE(world.gateway->seen.back().repeat);
    TEST_ASSERT_TRUE(world.gateway->seen.back().message == world.gateway->seen.front().message);
  }
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_size_t(1, world.gateway->applied());
}

TEST("As another device, the board drops the update that waited, and its number stays used") {
  World world(kSlowLink);
  world.leave_update_waiting();
  world.replace_identity("pi-2");
  world.assert_first_dropped("foreign-sender): it is of device 'pi-1', this is 'pi-2'");
}

TEST("In another fleet, the board drops the update that waited") {
  World world(kSlowLink);
  world.leave_update_waiting();
  ModelMessage others = first_model();
  others.fleet = "vineyard";
  world.settings.membership.fleet = others.fleet;
  world.replace_identity("pi-1");
  world.change_gateway(others);
  world.assert_first_dropped("wrong-fleet): it is for fleet 'orchard', this device is in 'vineyard'");
}

TEST("With another model, the board drops the update that waited, though its key is the same") {
  World world(kSlowLink);
  world.leave_update_waiting();
  ModelMessage others = first_model();
  others.model_hash[0] = 8;
  world.settings.membership.model_hash = others.model_hash;
  world.change_gateway(others);
  world.assert_first_dropped("wrong-model): it was computed on model 0700");
}

TEST("An update that was dropped is not found again, and its number is not used again") {
  World world(kSlowLink);
  world.leave_update_waiting();
  world.replace_identity("pi-2");
  for (int i = 0; i < 2; ++i) {
    world.start_device();  // and off again, before there was anything to train on
    world.kill_device();
  }
  UpdateSpool spool = UpdateSpool::open(world.folder / "state").value();
  TEST_ASSERT_FALSE(spool.take_waiting().has_value());
  TEST_ASSERT_EQUAL_UINT64(2, spool.next_sequence());
  TEST_ASSERT_EQUAL_size_t(world.log.text.find("is dropped"), world.log.text.rfind("is dropped"));
}

TEST("When the new key cannot sign, the start fails and the update still waits") {
  class BrokenSigner final : public Signer {
   public:
    [[nodiscard]] const PublicKey& public_key() const override { return key; }
    [[nodiscard]] Result<EcdsaSignature> sign(SignedParts) override { return io_error("no answer"); }
    PublicKey key = MbedtlsSigner::generate()->public_key();
  };
  World world(kSlowLink);
  world.leave_update_waiting();
  BrokenSigner broken;
  EnvelopeSealer sealer(broken);
  world.spool.emplace(UpdateSpool::open(world.folder / "state").value());
  world.bus = world.broker.client("pi-1");
  ClientEngine engine(
      world.settings, TrainingSchedule(world.schedule), FleetTopics::create("orchard").value(),
      EngineParts{*world.bus, sealer, world.opener, world.verifier, world.training, *world.spool, world.clock,
                  world.log, [] { return 0ns; }, [] { return true; }});
  ASSERT_CONTAINS(message_of(engine.start()), "no answer");
  world.spool.reset();
  TEST_ASSERT_EQUAL_UINT64(1, UpdateSpool::open(world.folder / "state")->take_waiting()->sequence);
}

TEST("A device that lost its memory goes on above what the gateway has judged") {
  World world;
  world.gateway->publish_model();
  world.start_device();
  world.gateway->change = [](VerdictMessage& verdict) {
    if (verdict.sequence != 1) return;
    verdict.accepted = false;
    verdict.reason = 72;  // replayed
    verdict.highest_sequence = 5000;
  };
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  TEST_ASSERT_EQUAL_UINT64(5001, world.gateway->seen.back().message.sequence);
}

TEST(
    "Through lost, doubled and overtaking messages, cut links and a crashing broker, every update counts "
    "once") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    World world({.shortest_delay = 1ms, .longest_delay = 30ms, .loss = 0.15, .duplication = 0.2});
    world.settings.jitter_seed = seed;
    world.settings.answer = {2s, 10s};
    world.gateway->publish_model();
    world.start_device();
    Random random(seed);
    for (int i = 0; i < 12; ++i) {
      world.run_until([] { return false; }, std::chrono::milliseconds(random.below(3000)));
      switch (random.below(3)) {
        case 0:
          world.broker.crash();
          break;
        case 1:
          world.broker.cut("pi-1");
          world.broker.restore("pi-1");
          break;
        default:
          world.kill_device();
          world.start_device();
      }
      world.gateway->publish_model();
    }
    const auto before = world.gateway->applied();
    TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->applied() >= before + 3; }));
    std::map<std::uint64_t, Bytes> by_sequence;
    for (const auto& seen : world.gateway->seen) {
      auto& known = by_sequence[seen.message.sequence];
      if (!known.empty()) TEST_ASSERT_TRUE_MESSAGE(known == seen.envelope, "one number, two updates");
      known = seen.envelope;
    }
    TEST_ASSERT_EQUAL_UINT64_MESSAGE(by_sequence.size(), by_sequence.rbegin()->first,
                                     "no number is left out");
  }
}

TEST("What a stranger signed counts for nothing: no model, no verdict; it is counted and logged") {
  World world;
  MbedtlsSigner stranger = MbedtlsSigner::generate().value();
  GatewayStandIn foreign(*world.gateway_bus, stranger, world.devices, first_model());
  foreign.publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().refused == 1; }));
  TEST_ASSERT_EQUAL_INT(0, world.training.calls);
  ASSERT_CONTAINS(world.log.text, "message refused (unknown-key)");
  world.gateway->answers = false;
  world.gateway->publish_model();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  foreign.send_verdict(foreign.verdict_for("pi-1", world.gateway->seen[0].message));
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().refused == 2; }));
  TEST_ASSERT_EQUAL_UINT64(0, *world.engine->status().accepted);
}

TEST("A verdict for another update than the one that waits does not count for it") {
  World world;
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  VerdictMessage other = world.gateway->verdict_for("pi-1", world.gateway->seen[0].message);
  other.sequence = 99;
  other.highest_sequence = 0;
  world.gateway->send_verdict(other);
  world.run_until([] { return false; }, 1s);
  TEST_ASSERT_EQUAL_UINT64(0, *world.engine->status().accepted);
}

TEST("A gateway without room is asked again later, and the update is not given up") {
  World world;
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  VerdictMessage full = world.gateway->verdict_for("pi-1", world.gateway->seen[0].message);
  full.accepted = false;
  full.reason = 74;
  world.gateway->send_verdict(full);
  world.run_until([] { return false; }, 1s);
  TEST_ASSERT_EQUAL_UINT64(0, *world.engine->status().rejected);
  world.gateway->answers = true;
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_UINT64(1, *world.engine->status().accepted);
}

TEST("Without room the gateway says when to come back; nothing is sent until then, and then all of it") {
  World world;
  world.refuse_all(RefusalReason::kOverloaded, 45s);
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.refusals_sent == 1; }));
  TEST_ASSERT_TRUE(world.run_until([&] { return world.status_says("was refused (overloaded)"); }, 5s));
  TEST_ASSERT_TRUE(world.status_says("\"training\""));  // nothing is wrong
  const std::size_t pieces = world.gateway->pieces;
  TEST_ASSERT_FALSE(world.run_until([&] { return world.gateway->pieces > pieces; }, 39s));
  world.refuse_nothing();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_UINT64(1, world.gateway->applied());
}

TEST(
    "A paused device says so, keeps its update without an alarm, and sends it at once when the gateway wakes "
    "it") {
  World world;
  world.refuse_all(RefusalReason::kPaused, 300s);
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.refusals_sent == 5; }, 1800s));
  TEST_ASSERT_TRUE(world.run_until([&] { return world.status_says("was refused (paused)"); }, 60s));
  TEST_ASSERT_FALSE(world.status_says("\"alert\""));
  world.refuse_nothing();
  const auto resumed = world.broker.now();
  const OfferMessage offer{"orchard", first_model().model_hash, EncodingSet::all()};
  world.gateway->send("pi-1", world.gateway->sealed(encode(offer).value()));
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE(world.broker.now() - resumed < 10s);
  TEST_ASSERT_EQUAL_size_t(1, world.gateway->applied());
}

TEST("A refusal of another update than the one that waits changes nothing") {
  World world;
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  RefusalMessage other = world.refusal(RefusalReason::kOverloaded, 45s);
  other.transfer ^= 1;
  world.send_refusal(other);
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 2; }, 40s));  // by its own time
  TEST_ASSERT_EQUAL_UINT64(1, world.engine->status().sequence.value());
}

TEST("Refused three times, or unanswered three times, the device raises the alarm with what it knows") {
  World world;
  world.refuse_all(RefusalReason::kOverloaded, 1s);
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.status_says("\"alert\""); }));
  TEST_ASSERT_TRUE(world.refusals_sent >= 3);
  TEST_ASSERT_TRUE(world.status_says("the gateway's last answer was 'overloaded'"));
  world.refuse_nothing();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE(world.run_until([&] { return !world.status_says("\"alert\""); }));

  World silent;
  silent.gateway->answers = false;
  silent.gateway->publish_model();
  silent.start_device();
  TEST_ASSERT_TRUE(silent.run_until([&] { return silent.status_says("\"alert\""); }));
  TEST_ASSERT_EQUAL_size_t(4, silent.gateway->seen.size());
  TEST_ASSERT_TRUE(silent.status_says("the gateway does not answer"));
}

TEST("An update that the gateway has opened and will never take is given up, and its number stays used") {
  World world;
  world.refuse_all(RefusalReason::kNotFinite, 0s);
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.refusals_sent == 1; }));
  TEST_ASSERT_TRUE(world.run_until([&] { return world.status_says("was refused (not-finite)"); }, 5s));
  TEST_ASSERT_TRUE(world.status_says("\"alert\""));
  world.refuse_nothing();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_UINT64(2, world.gateway->seen.back().message.sequence);
  TEST_ASSERT_TRUE(world.run_until([&] { return !world.status_says("\"alert\""); }));
}

TEST("For a word that is not proven no update is given up: alarm, and the same one again") {
  World world;
  world.proven = false;
  world.refuse_all(RefusalReason::kNotFinite, 0s);
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.status_says("\"alert\""); }));
  world.refuse_nothing();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_UINT64(1, world.gateway->seen.back().message.sequence);
}

TEST("Refused for its model, the device asks for the fleet's, and sends again when that is its own") {
  World world;
  world.refuse_all(RefusalReason::kWrongModel, 0s);
  world.start_device();
  world.gateway->publish_model();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.refusals_sent == 1; }));
  world.refuse_nothing();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));  // the broker keeps the device's own model
  TEST_ASSERT_EQUAL_UINT64(1, world.gateway->seen.back().message.sequence);
  TEST_ASSERT_TRUE(world.broker.now() < 25s);  // not only at its next time
}

TEST("The package of another model: the device says so and waits") {
  World world;
  ModelMessage other = first_model();
  other.model_hash[0] ^= 1;
  world.gateway->publish_model(other);
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().state == DeviceState::kAlert; }));
  ASSERT_CONTAINS(
      world.gateway->statuses.empty() ? world.engine->status().message : world.engine->status().message,
      "install the fleet's model package");
  world.gateway->publish_model();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().state == DeviceState::kTraining; }));
}

TEST("A full disk: alert, nothing is sent unsaved, and the update goes out once there is room") {
  World world;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  // A folder that is gone is as good as one without room.
  std::filesystem::rename(world.folder / "state", world.folder / "away");
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().state == DeviceState::kAlert; }));
  ASSERT_CONTAINS(world.engine->status().message, "cannot be saved");
  world.run_until([] { return false; }, 120s);
  TEST_ASSERT_EQUAL_size_t(1, world.gateway->applied());
  TEST_ASSERT_EQUAL_INT_MESSAGE(2, world.training.calls, "it keeps the update it has");
  std::filesystem::rename(world.folder / "away", world.folder / "state");
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  TEST_ASSERT_EQUAL_UINT64(2, world.gateway->seen.back().message.sequence);
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().state == DeviceState::kTraining; }));
}

TEST("When a copy of the board has used the number of an update that is not saved yet, it gets a new one") {
  World world;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  std::filesystem::rename(world.folder / "state", world.folder / "away");
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().state == DeviceState::kAlert; }));
  VerdictMessage others = world.gateway->verdict_for("pi-1", world.gateway->seen[0].message);
  others.sequence = 40;
  others.highest_sequence = 50;
  world.gateway->send_verdict(others);
  world.run_until([] { return false; }, 1s);
  std::filesystem::rename(world.folder / "away", world.folder / "state");
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  TEST_ASSERT_EQUAL_UINT64(51, world.gateway->seen.back().message.sequence);
}

TEST("No samples yet raises no alert; a failing training does, until it works") {
  World world;
  world.gateway->publish_model();
  world.training.problem = unavailable("waiting for samples");
  world.start_device();
  world.run_until([] { return false; }, 30s);
  TEST_ASSERT_TRUE(world.engine->status().state == DeviceState::kReady);
  TEST_ASSERT_EQUAL_STRING("waiting for samples", world.engine->status().message.c_str());
  world.training.problem = internal_error("the graph is broken");
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().state == DeviceState::kAlert; }));
  ASSERT_CONTAINS(world.engine->status().message, "the graph is broken");
  world.training.problem.reset();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
}

TEST("A diverged model gives no update: NaN is never signed") {
  World world;
  class NanTraining final : public LocalTraining {
    [[nodiscard]] Result<TrainedUpdate> train(const ModelMessage&, const KeepGoing&) override {
      return TrainedUpdate{std::vector<float>(kDimension, std::numeric_limits<float>::quiet_NaN()), 1, 0};
    }
  };
  NanTraining nan;
  world.gateway->publish_model();
  world.spool.emplace(UpdateSpool::open(world.folder / "state").value());
  world.bus = world.broker.client("pi-1");
  world.engine = std::make_unique<ClientEngine>(
      world.settings, TrainingSchedule(world.schedule), FleetTopics::create("orchard").value(),
      EngineParts{*world.bus, *world.sealer, world.opener, world.verifier, nan, *world.spool, world.clock,
                  world.log, [] { return 0ns; }, [] { return true; }});
  ASSERT_OK(world.engine->start());
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->status().state == DeviceState::kAlert; }));
  TEST_ASSERT_EQUAL_size_t(0, world.gateway->seen.size());
}

TEST("In quiet hours the device rests, says so, and starts when they are over") {
  World world;
  const int minute = local_minute(world.clock.wall());
  world.schedule = {.quiet_hours = {{minute, (minute + 30) % 1440}}};
  world.gateway->publish_model();
  world.start_device();
  world.run_until([] { return false; }, 600s);
  TEST_ASSERT_EQUAL_INT(0, world.training.calls);
  ASSERT_CONTAINS(world.gateway->statuses.back(), "quiet hours");
  TEST_ASSERT_TRUE(world.run_until([&] { return world.training.calls > 0; }, 1800s));
}

TEST("A clock that jumps neither stops the device nor makes it send twice") {
  World world;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  world.clock.jump = std::chrono::seconds(-86'400 * 365);
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));
  world.clock.jump = std::chrono::seconds(86'400 * 3650);
  TEST_ASSERT_TRUE(world.run_until_verdicts(3));
  TEST_ASSERT_EQUAL_size_t(3, world.gateway->seen.size());
}

TEST("The status says who and how, at its interval, and goodbye when the device stops") {
  World world;
  world.gateway->publish_model();
  world.settings.status_interval = 10s;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  const auto count = world.gateway->statuses.size();
  world.run_until([] { return false; }, 25s);
  TEST_ASSERT_GREATER_OR_EQUAL_size_t(count + 2, world.gateway->statuses.size());
  ASSERT_CONTAINS(world.gateway->statuses.back(), R"("state":"training","device":"pi-1")");
  world.engine->say_goodbye();
  TEST_ASSERT_FALSE(world.engine->goodbye_said());
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->goodbye_said(); }));
  world.run_until([] { return false; }, 100ms);
  TEST_ASSERT_TRUE(
      std::any_of(world.gateway->statuses.begin(), world.gateway->statuses.end(),
                  [](const auto& s) { return s.find("\"state\":\"disconnected\"") != std::string::npos; }));
}

TEST("A certificate that has ended while the link was down raises the alarm") {
  World world;
  world.gateway->publish_model();
  world.settings.certificate_until = world.clock.wall() + 30s;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  ASSERT_CONTAINS(world.engine->status().message, "the certificate ends at");
  world.run_until([] { return false; }, 60s);
  world.broker.cut("pi-1");
  world.run_until([] { return false; }, 1s);
  ASSERT_CONTAINS(world.log.text, "the certificate ended at");
}

TEST("With an offer updates take a quarter of the bytes, and the status asks no longer") {
  World world;
  world.training.noise = true;
  world.gateway->offer = EncodingSet::all();
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(3));
  TEST_ASSERT_TRUE(world.gateway->refused.empty());
  for (const auto& seen : world.gateway->seen) {
    TEST_ASSERT_TRUE(seen.envelope.size() < kDimension * sizeof(float) * 27 / 100);
  }
  TEST_ASSERT_TRUE(relative_error(EchoTraining::noise_for(100), world.gateway->seen[0].message.vector) <
                   0.01);
  ASSERT_CONTAINS(world.gateway->statuses.front(), R"("wants_offer":true)");
  TEST_ASSERT_FALSE(world.engine->status().wants_offer);
}

TEST("A configured encoding is used where the gateway takes it, else the next larger one") {
  for (const auto& [wish, taken, most] : {std::tuple(Encoding::kInt4, EncodingSet::all(), 0.15),
                                          std::tuple(Encoding::kFloat16, EncodingSet::all(), 0.52),
                                          std::tuple(Encoding::kFloat32, EncodingSet::all(), 1.0),
                                          std::tuple(Encoding::kInt8, EncodingSet(), 1.02)}) {
    World world;
    world.settings.encoding = wish;
    world.training.noise = true;
    world.gateway->offer = taken;
    world.gateway->publish_model();
    world.start_device();
    TEST_ASSERT_TRUE(world.run_until_verdicts(1));
    const double share =
        static_cast<double>(world.gateway->seen[0].envelope.size()) / (kDimension * sizeof(float));
    TEST_ASSERT_TRUE(share < most && share > 0.7 * most);
  }
}

TEST("A gateway of the version before gets updates that it understands, and goes on asking for nothing") {
  World world;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(3));
  TEST_ASSERT_TRUE(world.gateway->refused.empty());
  TEST_ASSERT_TRUE(world.engine->status().wants_offer);
}

TEST("When an older gateway takes over, the update that it cannot read goes again as one that it can") {
  World world;
  world.training.noise = true;
  world.gateway->offer = EncodingSet::all();
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  const auto numbers = world.gateway->seen[0].message.vector;
  world.change_gateway(first_model());  // and it makes no offer
  world.gateway->publish_model();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE(!world.gateway->refused.empty());
  TEST_ASSERT_EQUAL_UINT64(1, world.gateway->seen[0].message.sequence);
  TEST_ASSERT_TRUE(world.gateway->seen[0].message.vector == numbers);  // bit for bit
  ASSERT_CONTAINS(world.log.text, "update 1 goes in the format that every gateway understands");
}

TEST("After a restart too, the update that waited reaches an older gateway in the end") {
  World world;
  world.training.noise = true;
  world.gateway->offer = EncodingSet::all();
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  world.kill_device();
  world.change_gateway(first_model());
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_UINT64(1, world.gateway->seen[0].message.sequence);
}

TEST("A newer gateway that is slow to answer gets the same bytes again: it repeats its offer") {
  World world;
  world.gateway->offer = EncodingSet::all();
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 4; }, 3600s));
  TEST_ASSERT_TRUE(world.gateway->seen[0].envelope == world.gateway->seen[3].envelope);
  world.gateway->answers = true;
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_EQUAL_size_t(1, world.gateway->applied());
}

TEST("Refused as unsupported, an encoded update goes at once in the format that every gateway understands") {
  World world;
  world.training.noise = true;
  world.gateway->offer = EncodingSet::all();
  world.refuse_all(RefusalReason::kUnsupported, 0s);
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.refusals_sent == 1; }));
  world.refuse_nothing();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE(world.broker.now() < 10s);  // not only after a wait
  TEST_ASSERT_EQUAL_size_t(1, world.gateway->applied());
  const auto& seen = world.gateway->seen;
  TEST_ASSERT_TRUE(seen.at(0).envelope.size() < kDimension * sizeof(float) / 2);
  TEST_ASSERT_TRUE(seen.at(1).envelope.size() > kDimension * sizeof(float));
  TEST_ASSERT_TRUE(seen.at(0).message.vector == seen.at(1).message.vector);  // bit for bit
  TEST_ASSERT_FALSE(world.status_says("\"alert\""));
}

TEST("An encoded update that is held for want of room stays as it is, and so does the offer") {
  World world;
  world.gateway->offer = EncodingSet::all();
  world.gateway->differences = true;
  world.refuse_all(RefusalReason::kOverloaded, 45s);
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.refusals_sent == 2; }));
  TEST_ASSERT_FALSE(world.engine->status().wants_offer);
  TEST_ASSERT_TRUE(world.gateway->seen.at(0).envelope == world.gateway->seen.at(1).envelope);
  world.refuse_nothing();
  TEST_ASSERT_TRUE(world.run_until_verdicts(2));  // the second one on a model that came as a difference
  TEST_ASSERT_EQUAL_UINT64(101, world.gateway->seen.back().message.base_version);
  TEST_ASSERT_EQUAL_UINT64(0, *world.engine->status().refused);
}

TEST("An offer of another fleet, for another model or of a stranger changes nothing") {
  World world;
  world.gateway->publish_model();
  world.gateway->answers = false;
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  OfferMessage offer{"meadow", first_model().model_hash, EncodingSet::all()};
  world.gateway->send("pi-1", world.gateway->sealed(encode(offer).value()));
  offer = {"orchard", {}, EncodingSet::all()};
  world.gateway->send("pi-1", world.gateway->sealed(encode(offer).value()));
  offer = {"orchard", first_model().model_hash, EncodingSet::all()};
  world.gateway->send("pi-1", world.sealer->seal(encode(offer).value()).value().release());
  TEST_ASSERT_TRUE(world.run_until([&] { return *world.engine->status().refused == 3; }));
  TEST_ASSERT_TRUE(world.engine->status().wants_offer);
}

TEST("A difference in front of its verdict is the model that the next update is computed on") {
  World world;
  world.gateway->offer = EncodingSet::all();
  world.gateway->differences = true;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(5));
  TEST_ASSERT_EQUAL_UINT64(0, *world.engine->status().refused);
  // Each update came from the version before its own: no model was fetched in between.
  for (std::size_t i = 0; i < 5; ++i) {
    TEST_ASSERT_EQUAL_UINT64(100 + i, world.gateway->seen[i].message.base_version);
  }
}

TEST("A difference that does not make the signed model is refused, and the whole model is fetched") {
  for (const bool wrong_base : {true, false}) {
    World world;
    world.gateway->offer = EncodingSet::all();
    world.gateway->differences = true;
    world.gateway->change_difference = [&](DifferenceMessage& difference) {
      if (wrong_base) difference.base_version += 1000;
      if (!wrong_base) difference.digest[3] ^= 1;
    };
    world.gateway->publish_model();
    world.start_device();
    TEST_ASSERT_TRUE(world.run_until_verdicts(1));
    TEST_ASSERT_EQUAL_UINT64(1, *world.engine->status().refused);
    world.gateway->publish_model();
    TEST_ASSERT_TRUE(world.run_until_verdicts(2));
    TEST_ASSERT_EQUAL_UINT64(101, world.gateway->seen[1].message.base_version);
    ASSERT_CONTAINS(world.log.text, wrong_base ? "a difference to version 1100" : "is not what was signed");
  }
}

TEST("Told when its next turn is, the device trains nothing before, and says why it waits") {
  World world;
  world.gateway->offer = EncodingSet::all();
  world.gateway->change = [](VerdictMessage& verdict) { verdict.come_back = 300s; };
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_FALSE(world.run_until([&] { return world.training.calls > 1; }, 290s));
  ASSERT_CONTAINS(world.gateway->statuses.back(), "the gateway sets the pace");
  TEST_ASSERT_TRUE(world.run_until([&] { return world.training.calls > 1; }, 60s));
}

TEST("A whole model in front of its verdict is taken, an older one or one that nothing waits for is not") {
  World world;
  world.gateway->offer = EncodingSet::all();
  world.gateway->models_in_verdicts = false;
  world.gateway->answers = false;
  world.gateway->publish_model();
  world.start_device();
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 1; }));
  ModelMessage model = first_model();
  const auto send = [&](std::uint64_t version) {
    model.version = version;
    world.gateway->send("pi-1", world.gateway->sealed(encode(model).value()));
  };
  send(130);
  TEST_ASSERT_TRUE(world.run_until([&] { return world.engine->model()->version == 130; }));
  send(120);
  world.run_until([] { return false; }, 5s);
  TEST_ASSERT_EQUAL_UINT64(130, world.engine->model()->version);
  world.gateway->model().version = 130;
  world.gateway->send_verdict(world.gateway->verdict_for("pi-1", world.gateway->seen[0].message));
  TEST_ASSERT_TRUE(world.run_until_verdicts(1));
  TEST_ASSERT_TRUE(world.run_until([&] { return world.gateway->seen.size() == 2; }));
  TEST_ASSERT_EQUAL_UINT64(130, world.gateway->seen[1].message.base_version);  // and nothing was fetched
}
