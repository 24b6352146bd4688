#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/sqlite/sqlite_database.h"
#include "core/system/atomic_file.h"
#include "gateway_server/store/sqlite_history.h"
#include "gateway_server/store/sqlite_store.h"
#include "gateway_server/store/store_reader.h"
#include "tests/support/test.h"

namespace aflguard::testing {

inline constexpr std::int64_t kFirstMoment = 1'769'860'800'000;  // the beginning of a day
inline constexpr ClientId kStoredDevices = 7;

inline gateway::SqliteStoreOptions stored_fleet_options(const std::filesystem::path& folder) {
  return {
      .file = folder / "state" / "gateway.db", .fleet = "orchard", .model_hash = "ab12", .guard = "aflguard"};
}

/// What a gateway commits, made up step by step: every update counts for one device, and has its verdict.
class StoredFleet final {
 public:
  /// Judges `updates` made-up updates and commits them.
  [[nodiscard]] Status commit(gateway::SqliteStore& store, std::size_t updates) {
    return advance(&store, updates);
  }
  /// As if commit() had succeeded.
  void pretend(std::size_t updates) { ASSERT_OK(advance(nullptr, updates)); }

  [[nodiscard]] std::uint64_t iteration() const { return iteration_; }

  /// Empty when the store holds what was committed and nothing else; otherwise what differs.
  [[nodiscard]] std::string compare(gateway::SqliteStore& store, const std::filesystem::path& file) const {
    const auto loaded = store.load();
    if (!loaded.ok()) return "the state: " + loaded.error().message;
    if (loaded->aggregator != state_) return "the state";
    if (loaded->reference != reference_) return "the reference update";
    if (iteration_ > 0 && loaded->guard != "aflguard") return "the guard";
    std::vector<gateway::DeviceRecord> devices;
    for (const auto& [id, device] : devices_) devices.push_back(device);
    if (loaded->devices != devices) return "the devices";
    for (const gateway::VerdictRecord& verdict : verdicts_) {
      const auto found = store.find_verdict(verdict.device, verdict.sequence);
      if (!found.ok()) return "a verdict: " + found.error().message;
      if (!found->has_value() || **found != verdict) {
        return "the verdict on update " + std::to_string(verdict.iteration);
      }
    }
    auto reader = gateway::StoreReader::open(file);
    if (!reader.ok()) return reader.error().message;
    const auto all = reader->verdicts();
    if (!all.ok()) return all.error().message;
    return all->size() == verdicts_.size() ? "" : "the number of verdicts";
  }

 private:
  [[nodiscard]] Status advance(gateway::SqliteStore* store, std::size_t updates) {
    std::vector<gateway::VerdictRecord> verdicts;
    std::map<ClientId, gateway::DeviceRecord> touched;
    StoredFleet next = *this;
    for (std::size_t i = 0; i < updates; ++i) {
      const ClientId id = 1 + next.random_.below(kStoredDevices);
      gateway::DeviceRecord& device = next.devices_[id];
      device.id = id;
      device.name = "pi-" + std::to_string(id);
      const std::uint64_t sequence = device.window.highest() + 1;
      device.window.record(sequence);
      const bool accepted = next.random_.below(4) != 0;
      ++(accepted ? device.accepted : device.rejected);
      device.last_seen_ms = kFirstMoment + static_cast<std::int64_t>(next.iteration_);
      touched[id] = device;
      verdicts.push_back({.iteration = ++next.iteration_,
                          .device = id,
                          .sequence = sequence,
                          .verdict = {.accepted = accepted,
                                      .reason = accepted ? Reason::kAccepted : Reason::kTooFar,
                                      .distance = 0.1 * static_cast<double>(i),
                                      .bound = 0.7,
                                      .delay = 2,
                                      .altered = 0.25,
                                      .alterations = 5},
                          .base_version = 4,
                          .version = next.iteration_,
                          .time_ms = device.last_seen_ms});
    }
    std::vector<gateway::DeviceRecord> devices;
    for (const auto& [id, device] : touched) devices.push_back(device);
    next.state_.resize(5000);
    for (std::byte& byte : next.state_) byte = static_cast<std::byte>(next.random_.below(256));
    const bool changed = next.reference_.empty() || next.random_.below(4) == 0;
    if (changed) next.reference_.assign(3000, static_cast<std::byte>(next.iteration_));
    if (store != nullptr) {
      TRY_STATUS(store->commit(
          {verdicts, devices, next.iteration_, next.iteration_, next.state_,
           changed ? std::span<const std::byte>(next.reference_) : std::span<const std::byte>()}));
    }
    next.verdicts_.insert(next.verdicts_.end(), verdicts.begin(), verdicts.end());
    *this = std::move(next);
    return {};
  }

  Random random_{9};
  std::uint64_t iteration_ = 0;
  std::map<ClientId, gateway::DeviceRecord> devices_;
  std::vector<gateway::VerdictRecord> verdicts_;
  Bytes state_;
  Bytes reference_;
};

/// Step `number` of the past that a gateway keeps.
inline gateway::HistoryBatch stored_history(std::int64_t number) {
  gateway::HistoryBatch batch;
  const std::int64_t time = kFirstMoment + number * 10'000;
  batch.fleet = {time, static_cast<std::uint64_t>(number), 3, 1, 2, 8, 0.5};
  for (ClientId id = 1; id <= kStoredDevices; ++id) batch.devices.push_back({time, id, 2, 1, 4, 3, 6.5, 9});
  return batch;
}

/// Every number of the past in a store, as text.
inline std::string stored_history_text(const std::filesystem::path& file) {
  auto history = gateway::SqliteHistory::open(file).value();
  std::string text;
  const std::int64_t end = kFirstMoment + gateway::kDayMs;
  for (std::size_t level = 0; level < gateway::kHistoryLevels.size(); ++level) {
    const std::vector<gateway::FleetPoint> fleet = history->fleet(level, kFirstMoment, end).value();
    const std::vector<gateway::DevicePoint> device =
        history->device(3, level, kFirstMoment, kFirstMoment + 300'000).value();
    for (const auto& point : fleet) {
      text += std::to_string(point.time_ms) + " " + std::to_string(point.accepted) + " " +
              std::to_string(point.refused) + " " + std::to_string(point.test_error.value_or(-1)) + "\n";
    }
    for (const auto& point : device) {
      text += std::to_string(point.time_ms) + " " + std::to_string(point.measured) + " " +
              std::to_string(point.distance_sum) + "\n";
    }
  }
  return text;
}

/// The files of a store, byte by byte, by their names.
using StoreImage = std::map<std::string, Bytes>;

inline StoreImage store_image(const std::filesystem::path& file) {
  StoreImage image;
  for (const auto& entry : std::filesystem::directory_iterator(file.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".lock") && !name.ends_with("-shm")) image[name] = read_file(entry.path()).value();
  }
  return image;
}

inline void write_store_image(const std::filesystem::path& file, const StoreImage& image) {
  std::filesystem::remove_all(file.parent_path());
  std::filesystem::create_directories(file.parent_path());
  for (const auto& [name, bytes] : image) {
    std::ofstream out(file.parent_path() / name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    TEST_ASSERT_TRUE(out.flush().good());
  }
}

}  // namespace aflguard::testing
