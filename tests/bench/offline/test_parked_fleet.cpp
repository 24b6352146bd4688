#include "bench/offline/offline_gateway.h"
#include "bench/offline/parked_fleet.h"
#include "core/book/device_book.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::bench;
using namespace aflguard::testing;

TEST("Senders of a parked fleet are spread over its book, and have their keys there") {
  TemporaryFolder folder;
  SilentProgress progress;
  ParkedFleet fleet = ParkedFleet::create(folder.path(), 1000, 10, progress).value();
  TEST_ASSERT_EQUAL_size_t(10, fleet.senders().size());
  DeviceBook book = DeviceBook::open_to_read(fleet.book()).value();
  TEST_ASSERT_EQUAL_UINT64(1000, book.state()->active);
  for (const Sender& sender : fleet.senders()) {
    const auto key = book.find_key(key_id_of(sender.signer.public_key())).value();
    TEST_ASSERT_EQUAL_STRING(sender.name.c_str(), key->device.c_str());
  }
  TEST_ASSERT_EQUAL_STRING("device-1", fleet.senders().front().name.c_str());
  TEST_ASSERT_EQUAL_STRING("device-901", fleet.senders().back().name.c_str());
  TEST_ASSERT_FALSE(ParkedFleet::create(folder.path(), 10, 11, progress).ok());
}

TEST("A store remembers every parked device") {
  TemporaryFolder folder;
  SilentProgress progress;
  const ParkedFleet fleet = ParkedFleet::create(folder.path(), 100, 1, progress).value();
  const auto learning = OfflineGateway::learn(OfflineModel::kSmall).value();
  const auto store = OfflineGateway::open_store(learning, folder / "gateway.db").value();
  ASSERT_OK(fleet.remember(*store, progress));
  const auto state = store->load().value();
  TEST_ASSERT_EQUAL_size_t(100, state.devices.size());
  TEST_ASSERT_EQUAL_STRING("device-1", state.devices.front().name.c_str());
}
