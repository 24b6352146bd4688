#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "gateway_server/history/history_points.h"

namespace aflguard::gateway {

/// The downsampled past in the gateway's store, on a connection of its own. It must never stand in the way of
/// the connection that makes verdicts durable: transactions are short, nothing waits for the disk (a power
/// loss may cost the last minutes of history), and what fails is given up. One thread.
class SqliteHistory final {
 public:
  /// The store exists and has the newest schema: SqliteStore::open() has seen to that.
  [[nodiscard]] static Result<std::unique_ptr<SqliteHistory>> open(const std::filesystem::path& file);
  ~SqliteHistory();

  /// Adds them to every level. After a failure some of it may be there.
  [[nodiscard]] Status add(std::span<const HistoryBatch> batches);
  /// Removes some of what is older than is kept; to be called again and again.
  [[nodiscard]] Status prune(std::int64_t now_ms);

  /// A level's points in [from_ms, to_ms), in order.
  [[nodiscard]] Result<std::vector<FleetPoint>> fleet(std::size_t level, std::int64_t from_ms,
                                                      std::int64_t to_ms);
  [[nodiscard]] Result<std::vector<DevicePoint>> device(ClientId device, std::size_t level,
                                                        std::int64_t from_ms, std::int64_t to_ms);
  /// The number of that device; none when no update of it was ever judged.
  [[nodiscard]] Result<std::optional<ClientId>> find_device(const std::string& name);

 private:
  struct Internals;
  explicit SqliteHistory(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace aflguard::gateway
