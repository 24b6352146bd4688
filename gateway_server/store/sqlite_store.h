#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "gateway_server/judging/gateway_store.h"

namespace aflguard::gateway {

/// A model by which a store knows it.
struct StoredModel {
  std::uint64_t number = 0;
  std::string name;
  std::string hash;  ///< hex
};

struct SqliteStoreOptions {
  std::filesystem::path file;
  std::string fleet;
  std::string model_hash;       ///< hex
  std::string model_name = {};  ///< for people
  std::string guard;            ///< one text for the rule and all its settings; kept with the state
  std::uint64_t keep_verdicts = 1'000'000;
  LogSink* log = nullptr;  ///< borrowed
};

/// The store in one SQLite file: write-ahead log, full sync, one transaction per commit. Others may read the
/// file while a gateway writes it (docs/gateway.md has the tables); a lock beside it keeps a second gateway
/// out, and a mark beside it tells whether everything that was answered is still there. commit() gives
/// kCorrupt or kInternal for what will not pass.
class SqliteStore final : public GatewayStore {
 public:
  /// Opens the file or makes a new one, and brings an older schema up to date. kInvalidInput when it belongs
  /// to another fleet or model, kUnavailable when another gateway has it, kCorrupt when it is damaged: then
  /// nothing in it is changed.
  [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open(const SqliteStoreOptions& options);
  ~SqliteStore() override;

  [[nodiscard]] Result<StoredState> load() override;
  [[nodiscard]] Status commit(const StoreCommit& commit) override;
  [[nodiscard]] Result<std::optional<VerdictRecord>> find_verdict(ClientId device,
                                                                  std::uint64_t sequence) override;
  [[nodiscard]] Status add_evaluation(const EvaluationRecord& evaluation) override;

  /// From now on the fleet trains that model, all or nothing: what the former one was is kept, verdicts and
  /// history go on. The store is to be opened again for the new model. A number that another model has is
  /// replaced by the next free one.
  [[nodiscard]] Status change_model(const StoredModel& next, std::int64_t time_ms);

 private:
  struct Internals;
  explicit SqliteStore(std::unique_ptr<Internals> internals);
  [[nodiscard]] Status write(const StoreCommit& commit);
  [[nodiscard]] Status write_change(const StoredModel& next, std::int64_t time_ms);
  std::unique_ptr<Internals> internals_;
};

}  // namespace aflguard::gateway
