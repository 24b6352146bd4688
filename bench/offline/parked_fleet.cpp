#include "bench/offline/parked_fleet.h"

#include <array>
#include <cstring>

#include "core/base/random.h"
#include "core/book/device_book.h"

namespace aflguard::bench {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kGroup = 50'000;     // devices in one transaction
constexpr std::uint64_t kSequence = 1000;  // of the last update that a parked device sent, about

std::string parked_name(std::size_t number) {
  return "device-" + std::to_string(number + 1);
}

PublicKey random_key(Random& random) {
  PublicKey key{};
  for (std::size_t i = 0; i < key.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(key.data() + i, &word, std::min(sizeof word, key.size() - i));
  }
  key[0] = 4;
  return key;
}

}  // namespace

Result<ParkedFleet> ParkedFleet::create(const fs::path& folder, std::size_t devices, std::size_t senders,
                                        Progress& progress) {
  if (senders == 0 || senders > devices) {
    return invalid_input(std::to_string(senders) + " senders, 1 to " + std::to_string(devices) +
                         " are possible in a fleet of " + std::to_string(devices));
  }
  ParkedFleet fleet(folder / "devices.db", devices);
  TRY_STATUS(DeviceBook::create(fleet.book_));
  TRY(DeviceBook book, DeviceBook::open(fleet.book_));
  Random random(17);
  const auto end =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + std::chrono::days(730);
  std::vector<Device> group;
  for (std::size_t i = 0; i < devices; ++i) {
    DeviceKey key{random_key(random), "01", end};
    // Number i sends when i * senders / devices is a new whole number.
    if (i * senders / devices == fleet.senders_.size() && fleet.senders_.size() < senders) {
      TRY(OpensslSigner signer, OpensslSigner::generate());
      key.public_key = signer.public_key();
      fleet.senders_.push_back({parked_name(i), std::move(signer)});
    }
    group.push_back({parked_name(i), {std::move(key)}, false, end - std::chrono::days(730)});
    if (group.size() < kGroup && i + 1 < devices) continue;
    progress.show("enrolling " + std::to_string(devices) + " devices", i, devices);
    TRY_STATUS(book.add(group));
    group.clear();
  }
  return fleet;
}

Status ParkedFleet::remember(gateway::GatewayStore& store, Progress& progress) const {
  // A store has a model; an offline gateway begins with its own all the same.
  const std::array<std::byte, 1> model{};
  std::vector<gateway::DeviceRecord> group;
  for (std::size_t i = 0; i < devices_; ++i) {
    group.push_back({.id = i + 1,
                     .name = parked_name(i),
                     .window = ReplayWindow(kSequence, 0),
                     .last_seen_ms = 1'700'000'000'000});
    if (group.size() < kGroup && i + 1 < devices_) continue;
    progress.show("storing " + std::to_string(devices_) + " devices", i, devices_);
    TRY_STATUS(store.commit({.verdicts = {}, .devices = group, .aggregator = model}));
    group.clear();
  }
  return {};
}

}  // namespace aflguard::bench
