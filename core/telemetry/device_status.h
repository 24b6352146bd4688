#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "edge_client/status/board_facts.h"

namespace aflguard {

enum class DeviceState : std::uint8_t {
  kInit,          ///< just started
  kReady,         ///< connected; waits for a model, for samples or for its time
  kTraining,      ///< takes part
  kDisconnected,  ///< stopped by its owner
  kLost,          ///< vanished: the broker says so by the last will
  kAlert,         ///< needs somebody: `message` says what for
};

[[nodiscard]] std::string_view to_string(DeviceState state);

/// What a device says about itself on up/<device>/status. Nothing decides on it; people and dashboards read
/// it.
struct DeviceStatus {
  DeviceState state = DeviceState::kInit;
  std::string device;
  std::chrono::system_clock::time_point time{};
  std::optional<std::uint64_t> version;  ///< of the model it trains on
  std::uint64_t sequence = 0;            ///< of its latest update
  struct LastVerdict {
    bool accepted = false;
    std::string reason;
    std::uint64_t delay = 0;  ///< versions between the update's base and its arrival
  };
  std::optional<LastVerdict> verdict;
  std::uint64_t accepted = 0;  ///< since the start
  std::uint64_t rejected = 0;
  std::uint64_t refused = 0;  ///< messages that were not the gateway's, or broken
  std::optional<double> loss;
  std::uint64_t samples = 0;  ///< in the latest update
  std::string software;
  double rss_mb = 0;
  edge::BoardFacts board;
  std::optional<std::chrono::system_clock::time_point> certificate_until;
  std::string message;
};

/// One line of JSON, schema aflguard-device-status-1 (docs/topics.md), below 4 KB.
[[nodiscard]] std::string to_json(const DeviceStatus& status);

/// The same, as the broker shall say it when the device has vanished: state `lost`, and who it was.
[[nodiscard]] std::string last_will_json(const std::string& device, const std::string& software);

}  // namespace aflguard
