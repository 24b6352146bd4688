#include <algorithm>
#include <csignal>

#include "core/system/atomic_file.h"
#include "tests/scenarios/live_fleet.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kStoredFeatures = 3000;

/// A fleet whose gateway has judged something and was then ended by `signal`.
class UsedFleet final {
 public:
  explicit UsedFleet(int signal) : fleet(options()) {
    fleet.enrol("pi-1");
    fleet.start_gateway();
    HandDevice device(fleet, "pi-1");
    for (std::uint64_t i = 1; i <= 3; ++i)
      TEST_ASSERT_TRUE(device.insist(device.update(i, 0, 0.5F)).accepted);
    fleet.end_gateway(signal);
  }
  static LiveFleetOptions options() {
    LiveFleetOptions options;
    options.features = kStoredFeatures;
    return options;
  }

  [[nodiscard]] std::filesystem::path log_file() const { return fleet.store().string() + "-wal"; }
  /// Changes one byte in the last copy of the model in `file`, which ends with zeros and runs of -1.5.
  void damage_model(const std::filesystem::path& file) {
    Bytes bytes = read_file(file).value();
    const float parameter = -1.5F;  // three updates of 0.5
    const auto wanted = std::as_bytes(std::span(&parameter, 1));
    const auto last = std::find_end(bytes.begin(), bytes.end(), wanted.begin(), wanted.end());
    TEST_ASSERT_TRUE_MESSAGE(last != bytes.end(), "the model is in the file");
    *last ^= std::byte{1};
    ASSERT_OK(write_file_atomically(file, bytes));
  }
  void expect_refused_start(const std::string& why) {
    const auto before = files();
    fleet.launch_gateway();
    TEST_ASSERT_EQUAL_INT(1, fleet.wait_for_gateway_end());
    ASSERT_CONTAINS(fleet.gateway_log(), why);
    ASSERT_CONTAINS(fleet.gateway_log(), "restore it from a backup");
    TEST_ASSERT_TRUE_MESSAGE(files() == before, "a damaged store was written to");
  }

  LiveFleet fleet;

 private:
  [[nodiscard]] std::map<std::string, Bytes> files() const {
    std::map<std::string, Bytes> files;
    for (const auto& file : {fleet.store(), log_file()}) {
      if (std::filesystem::exists(file)) files[file.string()] = read_file(file).value();
    }
    return files;
  }
};

}  // namespace

TEST("A gateway does not start on a store in which one byte of the model is wrong, and writes nothing") {
  UsedFleet used(SIGTERM);
  used.damage_model(used.fleet.store());
  used.expect_refused_start("row 1 of table 'state' does not match its checksum");
}

TEST("A gateway does not start on a store that is not a database, and leaves it as it is") {
  UsedFleet used(SIGTERM);
  ASSERT_OK(write_file_atomically(used.fleet.store(), "a letter to my aunt, and no database at all"));
  used.expect_refused_start("the store is damaged");
}

TEST("A restored backup goes on: what it does not know is judged, and what it knows is answered") {
  UsedFleet used(SIGTERM);
  LiveFleet& fleet = used.fleet;
  const Bytes backup = read_file(fleet.store()).value();
  used.damage_model(fleet.store());
  used.expect_refused_start("the store is damaged");
  ASSERT_OK(write_file_atomically(fleet.store(), backup));
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_EQUAL_UINT64(3, device.insist(device.update(3, 0, 0.5F)).version);
  TEST_ASSERT_EQUAL_UINT64(4, device.insist(device.update(4, 0, 0.5F)).version);
}

TEST(
    "A store that is removed under a running gateway makes an alert, and nothing is passed over at the next "
    "start") {
  LiveFleet fleet(UsedFleet::options());
  fleet.enrol("pi-1");
  fleet.start_gateway();
  HandDevice device(fleet, "pi-1");
  TEST_ASSERT_TRUE(device.insist(device.update(1, 0, 0.5F)).accepted);
  std::filesystem::remove(fleet.store());
  device.send(device.seal(device.update(2, 1, 0.5F)));
  fleet.wait_for_state("alert");
  ASSERT_CONTAINS(fleet.gateway_log(),
                  "was removed while the gateway uses it, so nothing is answered any more");
  fleet.end_gateway(SIGTERM);
  fleet.launch_gateway();
  TEST_ASSERT_EQUAL_INT(1, fleet.wait_for_gateway_end());
  ASSERT_CONTAINS(fleet.gateway_log(), "1 updates were answered, the store is empty");
}
