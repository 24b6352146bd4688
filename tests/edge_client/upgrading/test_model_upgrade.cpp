#include "core/envelope/model_hash.h"
#include "core/transport/in_process_broker.h"
#include "edge_client/upgrading/model_upgrade.h"
#include "tests/core/release/releases.h"
#include "tests/support/quiet_log.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

class StepClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return {}; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return now; }
  void advance(std::chrono::milliseconds span) { now += span; }
  std::chrono::steady_clock::time_point now{std::chrono::hours(1)};
};

/// A board beside a broker that keeps an order and its pieces.
struct Station {
  TemporaryFolder folder;
  FleetTopics topics = FleetTopics::create("orchard").value();
  InProcessBroker broker{1};
  std::unique_ptr<MessageBus> owner = broker.client("release");
  std::unique_ptr<MessageBus> bus = broker.client("pi-1");
  ReleaseKeys keys;
  StepClock clock;
  QuietLog log;
  ModelShelf shelf;
  ModelHash own{};
  Status works;  ///< what trying a model gives
  std::size_t tried = 0;
  std::optional<ModelUpgrade> upgrade;

  explicit Station(const std::string& device = "pi-1") : shelf(open()) {
    own.fill(1);
    upgrade.emplace(UpgradeParts{.membership = {"orchard", device, own, 5},
                                 .release = keys.table,
                                 .has_release_keys = true,
                                 .verifier = keys.verifier,
                                 .bus = *bus,
                                 .topics = topics,
                                 .shelf = shelf,
                                 .try_model = [this](const fs::path& package) -> Result<std::string> {
                                   ++tried;
                                   TRY_STATUS(works);
                                   ASSERT_OK(read_model_package(package));
                                   return std::string("loss 0.7");
                                 },
                                 .clock = clock,
                                 .log = log});
    ASSERT_OK(upgrade->start());
    ASSERT_OK(owner->start());
    ASSERT_OK(bus->start());
    broker.settle();
  }
  ModelShelf open() {
    auto opened = ModelShelf::open(folder / "models", folder / "model");
    ASSERT_OK(opened);
    return std::move(opened).value();
  }

  /// An order for a package of several pieces; who signs it?
  ReleaseMessage order(ReleaseKeys& signer, const std::vector<std::string>& canaries) {
    ASSERT_OK(write_model_package(sample_package(noise(3)), folder / "package", true));
    const Bytes archive = pack_package(folder / "package", std::vector<float>(5)).value();
    ReleaseMessage release = sample_release(archive);
    release.model_hash = parse_model_hash(sample_package().description.hash).value();
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
  void run(int turns = 60) {
    for (int i = 0; i < turns; ++i) {
      broker.settle();
      while (auto event = bus->next_event({})) {
        const auto* received = std::get_if<BusReceived>(&*event);
        if (received == nullptr) continue;
        const auto topic = parse_topic(received->message.topic);
        if (topic.ok()) upgrade->take(topic->kind, topic->device, received->message);
      }
      (void)upgrade->step(clock.steady());
      clock.advance(std::chrono::milliseconds(100));
    }
  }
};

}  // namespace

TEST("A device changes over when its owner ordered a model and its gateway trains it, not before") {
  Station station;
  const ReleaseMessage release = station.order(station.keys, {});
  station.run();
  TEST_ASSERT_FALSE(station.upgrade->switch_due());
  TEST_ASSERT_EQUAL_size_t(0, station.tried);
  station.upgrade->fleet_trains(release.model_hash);
  station.run();
  TEST_ASSERT_TRUE(station.upgrade->switch_due());
  TEST_ASSERT_EQUAL_size_t(1, station.tried);
  TEST_ASSERT_TRUE(station.upgrade->report_due() == nullptr);
  TEST_ASSERT_TRUE(station.open().current() == station.shelf.place(release.model_hash));
  TEST_ASSERT_EQUAL_UINT64(release.model_number, station.open().number());
}

TEST("A canary fetches, tries and reports, and goes on with its model until the fleet changes") {
  Station station;
  const ReleaseMessage release = station.order(station.keys, {"pi-1"});
  station.run();
  const TrialReport* report = station.upgrade->report_due();
  TEST_ASSERT_NOT_NULL(report);
  TEST_ASSERT_TRUE(report->passed && report->release == release.number);
  TEST_ASSERT_FALSE(station.upgrade->switch_due());
  station.upgrade->report_published();
  TEST_ASSERT_TRUE(station.upgrade->report_due() == nullptr);
  station.upgrade->on_connected();
  TEST_ASSERT_NOT_NULL(station.upgrade->report_due());
  station.upgrade->fleet_trains(release.model_hash);
  station.run(2);
  TEST_ASSERT_TRUE(station.upgrade->switch_due());
  TEST_ASSERT_EQUAL_size_t(1, station.tried);
}

TEST("A model that cannot be trained here is reported by a canary, and never changed over to") {
  Station station;
  station.works = invalid_input("label 2 in line 4");
  const ReleaseMessage release = station.order(station.keys, {"pi-1"});
  station.run();
  TEST_ASSERT_NOT_NULL(station.upgrade->report_due());
  TEST_ASSERT_FALSE(station.upgrade->report_due()->passed);
  ASSERT_CONTAINS(station.upgrade->report_due()->text, "label 2 in line 4");
  station.upgrade->fleet_trains(release.model_hash);
  station.run();
  TEST_ASSERT_FALSE(station.upgrade->switch_due());
  ASSERT_CONTAINS(station.upgrade->problem(), "label 2 in line 4");
}

TEST("An order that another key signed changes nothing, whatever the gateway trains") {
  Station station;
  ReleaseKeys gateway;
  const ReleaseMessage release = station.order(gateway, {"pi-1"});
  station.upgrade->fleet_trains(release.model_hash);
  station.run();
  TEST_ASSERT_FALSE(station.upgrade->switch_due());
  TEST_ASSERT_EQUAL_size_t(0, station.tried);
  ASSERT_CONTAINS(station.upgrade->problem(), "was not rolled out");
}

TEST("A trial that ended the program three times is not begun a fourth time") {
  Station station;
  for (int i = 0; i < 3; ++i) (void)station.shelf.begin_trial(3);
  station.order(station.keys, {"pi-1"});
  station.run();
  TEST_ASSERT_EQUAL_size_t(0, station.tried);
  TEST_ASSERT_NOT_NULL(station.upgrade->report_due());
  ASSERT_CONTAINS(station.upgrade->report_due()->text, "ended 3 times");
}
