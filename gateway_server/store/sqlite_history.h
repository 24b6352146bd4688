#pragma once

#include <filesystem>
#include <memory>

#include "gateway_server/history/history_store.h"

namespace aflguard::gateway {

/// The history in the gateway's store file, on a separate connection. It must never stand in the way of the
/// connection that makes verdicts durable: transactions are short, nothing waits for the disk (a power loss
/// may cost the last minutes of history), and what fails is given up.
class SqliteHistory final : public HistoryStore {
 public:
  /// The store exists and has the newest schema: SqliteStore::open() has seen to that.
  [[nodiscard]] static Result<std::unique_ptr<SqliteHistory>> open(const std::filesystem::path& file);
  ~SqliteHistory() override;

  [[nodiscard]] Status add(std::span<const HistoryBatch> batches) override;
  [[nodiscard]] Status prune(std::int64_t now_ms) override;
  [[nodiscard]] Result<std::vector<FleetPoint>> fleet(std::size_t level, std::int64_t from_ms,
                                                      std::int64_t to_ms) override;
  [[nodiscard]] Result<std::vector<DevicePoint>> device(ClientId device, std::size_t level,
                                                        std::int64_t from_ms, std::int64_t to_ms) override;
  [[nodiscard]] Result<std::optional<ClientId>> find_device(const std::string& name) override;

 private:
  struct Internals;
  explicit SqliteHistory(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace aflguard::gateway
