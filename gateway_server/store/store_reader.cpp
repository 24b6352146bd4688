#include "gateway_server/store/store_reader.h"

#include "core/sqlite/sqlite_database.h"

namespace aflguard::gateway {

struct StoreReader::State {
  SqliteDatabase database;
};

namespace {

EvaluationRecord read_evaluation(const SqliteStatement& row) {
  return {row.number(0), row.number(1), row.real(2), row.integer(3)};
}

VerdictRecord read_verdict(const SqliteStatement& row) {
  VerdictRecord record;
  record.iteration = row.number(0);
  record.device = static_cast<ClientId>(row.integer(1));
  record.sequence = row.number(2);
  record.verdict.accepted = row.integer(3) != 0;
  record.verdict.reason = static_cast<Reason>(row.integer(4));
  record.verdict.distance = row.real(5);
  record.verdict.bound = row.real(6);
  record.base_version = row.number(7);
  record.version = row.number(8);
  record.verdict.delay = row.number(9);
  record.time_ms = row.integer(10);
  return record;
}

/// Every row of `sql`, through `read`.
template <typename Row>
Result<std::vector<Row>> read_all(SqliteDatabase& database, const char* sql,
                                  Row (*read)(const SqliteStatement&)) {
  std::vector<Row> rows;
  TRY(auto statement, database.prepare(sql));
  while (true) {
    TRY(const bool more, statement.step());
    if (!more) return rows;
    rows.push_back(read(statement));
  }
}

}  // namespace

StoreReader::StoreReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoreReader::StoreReader(StoreReader&&) noexcept = default;
StoreReader& StoreReader::operator=(StoreReader&&) noexcept = default;
StoreReader::~StoreReader() = default;

Result<StoreReader> StoreReader::open(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return not_found(file.string() + ": there is no store");
  TRY(auto database, SqliteDatabase::open(file, SqliteDatabase::Access::kReadOnly));
  return StoreReader(std::make_unique<State>(State{std::move(database)}));
}

Result<FleetProgress> StoreReader::progress() {
  FleetProgress progress;
  SqliteDatabase& database = state_->database;
  // One moment for all that is read.
  TRY_STATUS(database.run("BEGIN"));
  const auto read = [&]() -> Status {
    TRY(auto state, database.prepare("SELECT iteration, version FROM state"));
    TRY(const bool begun, state.step());
    if (begun) {
      progress.iteration = state.number(0);
      progress.version = state.number(1);
    }
    TRY(progress.devices,
        read_all<DeviceTally>(database, "SELECT id, name, accepted, rejected FROM devices ORDER BY id",
                              [](const SqliteStatement& row) {
                                return DeviceTally{static_cast<ClientId>(row.integer(0)), row.text(1),
                                                   row.number(2), row.number(3)};
                              }));
    TRY(const auto latest,
        read_all<EvaluationRecord>(database,
                                   "SELECT iteration, version, test_error, time FROM evaluations "
                                   "ORDER BY iteration DESC LIMIT 1",
                                   read_evaluation));
    if (!latest.empty()) progress.evaluation = latest.front();
    return {};
  };
  const Status status = read();
  TRY_STATUS(database.run("COMMIT"));
  if (!status.ok()) return status.error();
  return progress;
}

Result<std::vector<VerdictRecord>> StoreReader::verdicts() {
  return read_all<VerdictRecord>(state_->database,
                                 "SELECT iteration, device, sequence, accepted, reason, distance, bound, "
                                 "base_version, version, delay, time FROM verdicts ORDER BY iteration",
                                 read_verdict);
}

Result<std::vector<EvaluationRecord>> StoreReader::evaluations() {
  return read_all<EvaluationRecord>(state_->database,
                                    "SELECT iteration, version, test_error, time FROM evaluations "
                                    "ORDER BY iteration",
                                    read_evaluation);
}

Result<std::vector<std::uint64_t>> StoreReader::model_changes() {
  std::vector<std::uint64_t> changes;
  TRY(const std::string known,
      state_->database.query_text("SELECT name FROM sqlite_master WHERE name = 'model_changes'"));
  if (known.empty()) return changes;  // of an older program
  TRY(auto select, state_->database.prepare("SELECT iteration FROM model_changes ORDER BY id"));
  while (true) {
    TRY(const bool more, select.step());
    if (!more) return changes;
    changes.push_back(select.number(0));
  }
}

}  // namespace aflguard::gateway
