#include "core/envelope/model_hash.h"
#include "core/system/atomic_file.h"
#include "core/transport/in_process_broker.h"
#include "gateway_server/rollout/rollout_desk.h"
#include "tests/core/release/releases.h"
#include "tests/support/quiet_log.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

class SteppedClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return {}; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return now; }
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
};

/// A gateway's desk at a broker that keeps what the fleet's owner publishes, and two devices.
struct Bureau {
  TemporaryFolder folder;
  FleetTopics topics = FleetTopics::create("orchard").value();
  InProcessBroker broker{1};
  std::unique_ptr<MessageBus> owner = broker.client("release");
  std::unique_ptr<MessageBus> bus = broker.client("gateway");
  ReleaseKeys keys;
  MbedtlsSigner boards[2] = {MbedtlsSigner::generate().value(), MbedtlsSigner::generate().value()};
  KeyTable devices;
  SteppedClock clock;
  QuietLog log;
  Status trains;  ///< whether this gateway can train what it is given
  std::vector<Message> published;
  std::optional<RolloutDesk> desk;

  Bureau() {
    ASSERT_OK(devices.add("pi-1", boards[0].public_key()));
    ASSERT_OK(devices.add("pi-2", boards[1].public_key()));
    ASSERT_OK(owner->start());
    ASSERT_OK(bus->start());
    open();
  }
  void open() {
    desk.emplace(RolloutParts{.folder = folder / "models",
                              .fleet = "orchard",
                              .current = {1, "first", std::string(64, '9')},
                              .release = keys.table,
                              .devices = devices,
                              .is_enrolled = [](std::string_view device) { return device != "pi-9"; },
                              .verifier = keys.verifier,
                              .bus = *bus,
                              .topics = topics,
                              .publish = [this](Message message) { published.push_back(std::move(message)); },
                              .try_model = [this](const fs::path&) { return trains; },
                              .clock = clock,
                              .log = log});
    ASSERT_OK(desk->start());
    desk->on_connected();
    run(1);
  }
  ReleaseMessage order(ReleaseKeys& signer, const std::vector<std::string>& canaries,
                       std::uint64_t number = 3, const ModelPackage& package = sample_package(noise(3))) {
    ASSERT_OK(write_model_package(package, folder / "package", true));
    const Bytes archive = pack_package(folder / "package", std::vector<float>(5)).value();
    ReleaseMessage release = sample_release(archive);
    release.number = number;
    release.model_hash = parse_model_hash(package.description.hash).value();
    release.canaries = canaries;
    for (std::size_t i = 0; i < release.pieces.size(); ++i) {
      const auto rest = std::span(archive).subspan(i * kReleasePieceBytes);
      const auto piece = rest.first(std::min(rest.size(), kReleasePieceBytes));
      ASSERT_OK(owner->publish({topics.release_piece(release_piece_name(release.package_digest, i)),
                                {piece.begin(), piece.end()},
                                true}));
    }
    ASSERT_OK(owner->publish({topics.release(), signer.sealed(encode(release).value()), true}));
    return release;
  }
  void report(std::size_t board, const ReleaseMessage& release, bool passed, const std::string& as = {}) {
    TrialReport trial{"orchard", release.number, release.model_hash, passed, passed ? "loss 0.7" : "label 7"};
    Bytes envelope = EnvelopeSealer(boards[board]).seal(encode(trial).value()).value().release();
    const std::string device = as.empty() ? "pi-" + std::to_string(board + 1) : as;
    ASSERT_OK(owner->publish({topics.trial(device), std::move(envelope), true}));
  }
  void run(int turns = 60) {
    for (int i = 0; i < turns; ++i) {
      broker.settle();
      while (auto event = bus->next_event({})) {
        const auto* received = std::get_if<BusReceived>(&*event);
        if (received == nullptr) continue;
        const auto topic = parse_topic(received->message.topic);
        if (topic.ok()) desk->take(topic->kind, topic->device, received->message);
      }
      desk->tick(clock.now);
      clock.now += std::chrono::milliseconds(100);
    }
  }
  void expect(RolloutStage stage) const {
    TEST_ASSERT_EQUAL_STRING_MESSAGE(std::string(to_string(stage)).c_str(),
                                     std::string(to_string(desk->status().stage)).c_str(),
                                     desk->status().message.c_str());
  }
};

}  // namespace

TEST("Without canaries the gateway changes over as soon as it has the package and can train it") {
  Bureau bureau;
  const ReleaseMessage release = bureau.order(bureau.keys, {});
  bureau.run();
  bureau.expect(RolloutStage::kSwitching);
  TEST_ASSERT_TRUE(bureau.desk->chosen().has_value());
  TEST_ASSERT_EQUAL_STRING(to_hex(release.model_hash).c_str(), bureau.desk->chosen()->hash.c_str());
  ASSERT_OK(read_model_package(bureau.desk->chosen()->package));
}

TEST("Canaries come first: all of them must have passed, by reports that they have signed") {
  Bureau bureau;
  const ReleaseMessage release = bureau.order(bureau.keys, {"pi-1", "pi-2"});
  bureau.run();
  bureau.expect(RolloutStage::kTrial);
  bureau.report(0, release, true);
  bureau.report(0, release, true, "pi-2");  // on the other's topic, with its own signature
  bureau.run();
  bureau.expect(RolloutStage::kTrial);
  TEST_ASSERT_FALSE(bureau.desk->chosen().has_value());
  ASSERT_CONTAINS(bureau.desk->status().message, "waiting for pi-2");
  bureau.report(1, release, true);
  bureau.run();
  bureau.expect(RolloutStage::kSwitching);
}

TEST("One canary that fails stops the roll-out, also over a restart, and a new order begins another") {
  Bureau bureau;
  const ReleaseMessage release = bureau.order(bureau.keys, {"pi-1", "pi-2"});
  bureau.run();
  bureau.report(0, release, false);
  bureau.run();
  bureau.expect(RolloutStage::kFailed);
  ASSERT_CONTAINS(bureau.desk->status().message, "canary 'pi-1' cannot train it: label 7");
  bureau.report(0, release, true);
  bureau.report(1, release, true);
  bureau.run();
  bureau.expect(RolloutStage::kFailed);
  bureau.open();
  bureau.run();
  bureau.expect(RolloutStage::kFailed);
  TEST_ASSERT_FALSE(bureau.desk->chosen().has_value());
  bureau.order(bureau.keys, {}, 4);
  bureau.run();
  bureau.expect(RolloutStage::kSwitching);
}

TEST("Orders that another key signed, that are older, or that name what is not so change nothing") {
  Bureau bureau;
  ReleaseKeys gateway;
  bureau.order(gateway, {});
  bureau.run();
  bureau.expect(RolloutStage::kNone);
  ASSERT_CONTAINS(bureau.desk->status().message, "unknown-key");
  bureau.order(bureau.keys, {"pi-9"}, 5);
  bureau.run();
  bureau.expect(RolloutStage::kFailed);
  ASSERT_CONTAINS(bureau.desk->status().message, "'pi-9' is not in the fleet");
  bureau.order(bureau.keys, {}, 4);
  bureau.run();
  bureau.expect(RolloutStage::kFailed);
  bureau.trains = invalid_input("[limits] update_bytes is 100");
  bureau.order(bureau.keys, {}, 6);
  bureau.run();
  bureau.expect(RolloutStage::kFailed);
  ASSERT_CONTAINS(bureau.desk->status().message, "cannot train it: [limits] update_bytes is 100");
}

TEST("A restart in the middle goes on where it was, and a broker that lost everything gets it again") {
  Bureau bureau;
  const ReleaseMessage release = bureau.order(bureau.keys, {"pi-1"});
  bureau.run();
  bureau.open();
  bureau.run(2);
  bureau.expect(RolloutStage::kTrial);
  // The broker of another bureau keeps nothing.
  Bureau other;
  std::error_code error;
  fs::copy(bureau.folder / "models", other.folder / "models", fs::copy_options::recursive, error);
  other.keys.table = bureau.keys.table;
  other.published.clear();
  other.open();
  other.run(100);
  std::size_t pieces = 0;
  bool order = false;
  for (const Message& message : other.published) {
    const auto topic = parse_topic(message.topic);
    ASSERT_OK(topic);
    if (topic->kind == TopicKind::kReleasePiece) ++pieces;
    if (topic->kind == TopicKind::kRelease) {
      order = true;
      TEST_ASSERT_EQUAL_size_t(release.pieces.size(), pieces);
    }
  }
  TEST_ASSERT_TRUE(order);
}
