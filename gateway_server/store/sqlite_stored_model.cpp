#include "gateway_server/store/sqlite_stored_model.h"

#include "core/base/short_text.h"
#include "core/sqlite/sqlite_database.h"

namespace aflguard::gateway {

Result<SavedModel> read_stored_model(const std::filesystem::path& store, const ModelDescription& model) {
  std::error_code ignored;
  if (!std::filesystem::exists(store, ignored)) {
    return not_found(store.string() +
                     ": no such store; [store] file in the gateway's configuration names it");
  }
  TRY(auto database, SqliteDatabase::open(store, SqliteDatabase::Access::kReadOnly));
  TRY(const std::string hash, database.query_text("SELECT value FROM meta WHERE key = 'model'"));
  if (hash != model.hash) {
    return invalid_input(store.string() + ": holds a model with layout " + short_hash(hash) +
                         ", the package '" + model.name + "' has " + short_hash(model.hash));
  }
  // Stores of older programs have no checksums.
  TRY(const std::string version, database.query_text("PRAGMA user_version"));
  const std::string fits =
      std::stoul(version) < 3 ? "1" : "checksum IS row_checksum(iteration, version, guard, aggregator)";
  TRY(auto select, database.prepare("SELECT aggregator, " + fits + " FROM state WHERE id = 1"));
  TRY(const bool found, select.step());
  if (!found) return not_found(store.string() + ": no update has been judged yet");
  if (select.integer(1) == 0) {
    return corrupt(store.string() +
                   ": row 1 of table 'state' does not match its checksum; restore the store "
                   "from a backup");
  }
  return Aggregator::read_model(select.blob(0), model.dimension());
}

std::optional<StoredModel> model_of_store(const std::filesystem::path& store) {
  std::error_code ignored;
  if (!std::filesystem::exists(store, ignored)) return std::nullopt;
  const bool has_log = std::filesystem::exists(store.string() + "-wal", ignored);
  auto database = SqliteDatabase::open(
      store, has_log ? SqliteDatabase::Access::kReadOnly : SqliteDatabase::Access::kFrozen);
  if (!database.ok()) return std::nullopt;
  const auto hash = database->query_text("SELECT value FROM meta WHERE key = 'model'");
  if (!hash.ok() || hash->empty()) return std::nullopt;
  StoredModel model{1, {}, *hash};
  auto select = database->prepare("SELECT number, name FROM models WHERE hash = ?");
  if (!select.ok()) return model;  // of an older program
  const auto found = select->bind(std::string_view(model.hash)).step();
  if (found.ok() && *found) {
    model.number = select->number(0);
    model.name = select->text(1);
  }
  return model;
}

}  // namespace aflguard::gateway
