#include "gateway_server/store/sqlite_inspection.h"

#include "core/sqlite/sqlite_database.h"
#include "gateway_server/store/sqlite_log_check.h"
#include "gateway_server/store/sqlite_schema.h"

namespace aflguard::gateway {
namespace {

namespace fs = std::filesystem;

bool has_bytes(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  return !failed && size > 0;
}

Status check_owner(SqliteDatabase& database, const SqliteStoreOptions& options) {
  for (const auto& [key, wanted] : owner_facts(options)) {
    TRY(auto select, database.prepare("SELECT value FROM meta WHERE key = ?"));
    TRY(const bool found, select.bind(key).step());
    if (!found) {  // as after a power loss in the first moments, or damage later
      TRY(const std::string used, database.query_text("SELECT id FROM state"));
      if (used.empty()) continue;
      return corrupt("the " + std::string(key) + " that it belongs to is missing");
    }
    if (const std::string stored = select.text(0); stored != wanted) {
      return invalid_input(options.file.string() + ": belongs to " + std::string(key) + " '" + stored +
                           "', the configuration says '" + std::string(wanted) +
                           "'; give another [store] file, or the configuration that it was made with" +
                           (key == "model" ? "; aflguard fleet rollout changes the model of a fleet" : ""));
    }
  }
  return {};
}

/// After the way back: what to do when answered updates are missing.
std::string lost(const SqliteStoreOptions& options, std::uint64_t answered, const std::string& holds) {
  return options.file.string() + ": " + std::to_string(answered) + " updates were answered, the store " +
         holds + ": its log " + options.file.filename().string() +
         "-wal was cut or removed, or the file is an older copy; bring both back, or, to go on from what it "
         "holds (as with a restored backup), remove " +
         answered_file(options).string();
}

Status check_answered(SqliteDatabase& database, const SqliteStoreOptions& options,
                      const AnsweredMark::Content& answered) {
  TRY(const std::string store, database.query_text("SELECT value FROM meta WHERE key = 'store'"));
  if (!store.empty() && store != answered.store) {
    return corrupt(options.file.string() + ": is not the store whose answers " +
                   answered_file(options).string() +
                   " counts; bring the right one back, or, if it was put there on purpose, remove that file");
  }
  TRY(const std::string held, database.query_text("SELECT coalesce((SELECT iteration FROM state), "
                                                  "(SELECT max(iteration) FROM verdicts))"));
  const std::uint64_t iteration = held.empty() ? 0 : std::stoull(held);
  if (iteration < answered.iteration) {
    return corrupt(lost(options, answered.iteration, "holds " + std::to_string(iteration)));
  }
  return {};
}

Error damaged(const SqliteStoreOptions& options, const Error& found) {
  return corrupt(options.file.string() + ": the store is damaged (" + found.message +
                 "); restore it from a backup, or move it, its -wal and its .answered file away to start "
                 "with a new one");
}

}  // namespace

OwnerFacts owner_facts(const SqliteStoreOptions& options) {
  return {{{"fleet", options.fleet}, {"model", options.model_hash}}};
}

fs::path answered_file(const SqliteStoreOptions& options) {
  return options.file.string() + ".answered";
}

Status inspect_store(const SqliteStoreOptions& options,
                     const std::optional<AnsweredMark::Content>& answered) {
  const std::string log = options.file.string() + "-wal";
  if (!has_bytes(options.file)) {
    if (answered && answered->iteration > 0) return corrupt(lost(options, answered->iteration, "is empty"));
    return {};
  }
  const bool has_log = has_bytes(log);
  Status missing;  ///< other than damage, this has its own way out
  const auto look = [&]() -> Status {
    if (has_log) TRY_STATUS(check_write_ahead_log(log));
    TRY(auto database, SqliteDatabase::open(options.file, has_log ? SqliteDatabase::Access::kReadOnly
                                                                  : SqliteDatabase::Access::kFrozen));
    TRY_STATUS(check_content(database));
    TRY(const std::string begun, database.query_text("SELECT name FROM sqlite_master WHERE name = 'meta'"));
    if (!begun.empty()) {
      TRY_STATUS(check_owner(database, options));
      if (answered) missing = check_answered(database, options, *answered);
    } else if (answered && answered->iteration > 0) {
      missing = corrupt(lost(options, answered->iteration, "is empty"));
    }
    return {};
  };
  const Status found = look();
  if (found.ok()) return missing;
  // Columns and tables that are not found any more are damage too.
  const ErrorKind kind = found.error().kind;
  if (kind != ErrorKind::kCorrupt && kind != ErrorKind::kInternal) return found;
  return damaged(options, found.error());
}

}  // namespace aflguard::gateway
