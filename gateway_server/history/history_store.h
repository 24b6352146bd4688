#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "gateway_server/history/history_points.h"

namespace aflguard::gateway {

/// Where the downsampled past is kept. One thread uses it.
class HistoryStore {
 public:
  virtual ~HistoryStore() = default;

  /// Adds them to every level. After a failure some of it may be there.
  [[nodiscard]] virtual Status add(std::span<const HistoryBatch> batches) = 0;
  /// Removes some of what is older than is kept; to be called again and again.
  [[nodiscard]] virtual Status prune(std::int64_t now_ms) = 0;

  /// A level's points in [from_ms, to_ms), in order.
  [[nodiscard]] virtual Result<std::vector<FleetPoint>> fleet(std::size_t level, std::int64_t from_ms,
                                                              std::int64_t to_ms) = 0;
  [[nodiscard]] virtual Result<std::vector<DevicePoint>> device(ClientId device, std::size_t level,
                                                                std::int64_t from_ms, std::int64_t to_ms) = 0;
  /// The number of that device; none when no update of it was ever judged.
  [[nodiscard]] virtual Result<std::optional<ClientId>> find_device(const std::string& name) = 0;
};

}  // namespace aflguard::gateway
