#include "gateway_server/store/sqlite_history.h"

#include <algorithm>
#include <map>

#include "core/sqlite/sqlite_database.h"

namespace aflguard::gateway {
namespace {

/// Rows per transaction: some milliseconds in which no other connection can write.
constexpr std::size_t kRowsAtOnce = 256;
/// Steps that one call of prune() removes of a level at most; a call per minute keeps up with the finest.
constexpr std::int64_t kStepsPruned = 12;

Error damaged_row(const std::string& table, const std::string& row) {
  return corrupt("row " + row + " of table '" + table + "' does not match its checksum");
}

std::int64_t step_of(std::size_t level) {
  return kHistoryLevels[level].step_ms;
}

}  // namespace

struct SqliteHistory::Internals {
  SqliteDatabase database;
  SqliteStatement put_fleet;
  SqliteStatement put_device;
  SqliteStatement find_fleet;
  SqliteStatement find_point;
  SqliteStatement find_name;
  std::size_t rows = 0;  ///< in the open transaction

  [[nodiscard]] Status prepare() {
    TRY(put_fleet,
        database.prepare(
            "INSERT INTO history_fleet (step, time, version, accepted, rejected, refused, delay_sum, "
            "test_error, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, row_checksum(?1, ?2, ?3, ?4, ?5, "
            "?6, ?7, ?8)) ON CONFLICT (step, time) DO UPDATE SET (version, accepted, rejected, refused, "
            "delay_sum, test_error, checksum) = (SELECT v, a, j, f, d, e, row_checksum(step, time, v, a, j, "
            "f, d, e) FROM (SELECT excluded.version AS v, accepted + excluded.accepted AS a, rejected + "
            "excluded.rejected AS j, refused + excluded.refused AS f, delay_sum + excluded.delay_sum AS d, "
            "coalesce(excluded.test_error, test_error) AS e))"));
    TRY(put_device,
        database.prepare(
            "INSERT INTO history_devices (step, time, device, accepted, rejected, delay_sum, measured, "
            "distance_sum, bound_sum, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, row_checksum(?1, "
            "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)) ON CONFLICT (step, time, device) DO UPDATE SET (accepted, "
            "rejected, delay_sum, measured, distance_sum, bound_sum, checksum) = (SELECT a, j, d, m, s, b, "
            "row_checksum(step, time, device, a, j, d, m, s, b) FROM (SELECT accepted + excluded.accepted "
            "AS a, rejected + excluded.rejected AS j, delay_sum + excluded.delay_sum AS d, measured + "
            "excluded.measured AS m, distance_sum + excluded.distance_sum AS s, bound_sum + "
            "excluded.bound_sum AS b))"));
    TRY(find_fleet,
        database.prepare(
            "SELECT time, version, accepted, rejected, refused, delay_sum, test_error, test_error "
            "IS NULL, checksum IS row_checksum(step, time, version, accepted, rejected, refused, delay_sum, "
            "test_error) FROM history_fleet WHERE step = ? AND time >= ? AND time < ? ORDER BY time"));
    TRY(find_point,
        database.prepare("SELECT accepted, rejected, delay_sum, measured, distance_sum, bound_sum, checksum "
                         "IS row_checksum(step, time, device, accepted, rejected, delay_sum, measured, "
                         "distance_sum, bound_sum) FROM history_devices WHERE step = ? AND time = ? AND "
                         "device = ?"));
    TRY(find_name, database.prepare("SELECT id FROM devices WHERE name = ?"));
    return {};
  }

  [[nodiscard]] Status before_row() {
    if (rows++ == 0) return database.run("BEGIN IMMEDIATE");
    return {};
  }
  [[nodiscard]] Status after_row() {
    if (rows < kRowsAtOnce) return {};
    return finish();
  }
  [[nodiscard]] Status finish() {
    if (rows == 0) return {};
    rows = 0;
    return database.run("COMMIT");
  }

  [[nodiscard]] Status put(std::size_t level, const FleetPoint& point) {
    TRY_STATUS(before_row());
    put_fleet.bind(step_of(level))
        .bind(point.time_ms)
        .bind(point.version)
        .bind(point.accepted)
        .bind(point.rejected)
        .bind(point.refused)
        .bind(point.delay_sum);
    if (point.test_error) put_fleet.bind(*point.test_error);  // otherwise it stays null
    TRY_STATUS(put_fleet.run());
    return after_row();
  }

  [[nodiscard]] Status put(std::size_t level, const DevicePoint& point) {
    TRY_STATUS(before_row());
    TRY_STATUS(put_device.bind(step_of(level))
                   .bind(point.time_ms)
                   .bind(point.device)
                   .bind(point.accepted)
                   .bind(point.rejected)
                   .bind(point.delay_sum)
                   .bind(point.measured)
                   .bind(point.distance_sum)
                   .bind(point.bound_sum)
                   .run());
    return after_row();
  }

  [[nodiscard]] Status put_all(std::span<const HistoryBatch> batches) {
    for (std::size_t level = 0; level < kHistoryLevels.size(); ++level) {
      std::map<std::int64_t, FleetPoint> fleet;
      std::map<std::pair<std::int64_t, ClientId>, DevicePoint> devices;
      for (const HistoryBatch& batch : batches) {
        const std::int64_t time = step_begin(batch.fleet.time_ms, step_of(level));
        FleetPoint& sum = fleet[time];
        sum.add(batch.fleet);
        sum.time_ms = time;
        for (const DevicePoint& point : batch.devices) {
          DevicePoint& device = devices[{time, point.device}];
          device.add(point);
          device.time_ms = time;
          device.device = point.device;
        }
      }
      for (const auto& [key, point] : fleet) TRY_STATUS(put(level, point));
      for (const auto& [key, point] : devices) TRY_STATUS(put(level, point));
    }
    return finish();
  }

  [[nodiscard]] Status prune(const std::string& table, std::size_t level, std::int64_t cutoff) {
    const std::string step = std::to_string(step_of(level));
    TRY(const std::string oldest, database.query_text("SELECT time FROM " + table + " WHERE step = " + step +
                                                      " ORDER BY time LIMIT 1"));
    if (oldest.empty()) return {};
    const std::int64_t from = std::stoll(oldest);
    const std::int64_t to = std::min(cutoff, from + kStepsPruned * step_of(level));
    if (from >= to) return {};
    return database.run("DELETE FROM " + table + " WHERE step = " + step + " AND time >= " + oldest +
                        " AND time < " + std::to_string(to));
  }
};

SqliteHistory::SqliteHistory(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}
SqliteHistory::~SqliteHistory() = default;

Result<std::unique_ptr<SqliteHistory>> SqliteHistory::open(const std::filesystem::path& file) {
  TRY(SqliteDatabase database, SqliteDatabase::open(file, SqliteDatabase::Access::kReadWrite));
  // In a write-ahead log NORMAL waits for the disk only when the log is moved into the file.
  TRY_STATUS(database.run("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 1000"));
  auto internals = std::unique_ptr<Internals>(new Internals{std::move(database), {}, {}, {}, {}, {}});
  TRY_STATUS(internals->prepare());
  return std::unique_ptr<SqliteHistory>(new SqliteHistory(std::move(internals)));
}

Status SqliteHistory::add(std::span<const HistoryBatch> batches) {
  const Status added = internals_->put_all(batches);
  if (added.ok()) return {};
  internals_->rows = 0;
  (void)internals_->database.run("ROLLBACK");  // some failures have rolled back by themselves
  return added;
}

Status SqliteHistory::prune(std::int64_t now_ms) {
  TRY(const std::string counted, internals_->database.query_text("SELECT count(*) FROM devices"));
  const std::uint64_t devices = std::max<std::uint64_t>(std::stoull(counted), kFullyKeptDevices);
  for (std::size_t level = 0; level < kHistoryLevels.size(); ++level) {
    const std::int64_t kept = kHistoryLevels[level].kept_ms;
    TRY_STATUS(internals_->prune("history_fleet", level, now_ms - kept));
    const auto of_devices = static_cast<std::int64_t>(
        static_cast<double>(kept) * static_cast<double>(kFullyKeptDevices) / static_cast<double>(devices));
    TRY_STATUS(internals_->prune("history_devices", level, now_ms - of_devices));
  }
  return {};
}

Result<std::vector<FleetPoint>> SqliteHistory::fleet(std::size_t level, std::int64_t from_ms,
                                                     std::int64_t to_ms) {
  std::vector<FleetPoint> points;
  SqliteStatement& find = internals_->find_fleet;
  find.bind(step_of(level)).bind(from_ms).bind(to_ms);
  while (true) {
    const auto more = find.step();
    if (!more.ok() || !*more) {
      find.reset();
      if (!more.ok()) return more.error();
      return points;
    }
    if (find.integer(8) == 0) {
      const std::string row = std::to_string(step_of(level)) + " " + std::to_string(find.integer(0));
      find.reset();
      return damaged_row("history_fleet", row);
    }
    FleetPoint point = {
        find.integer(0), find.number(1), find.number(2), find.number(3), find.number(4), find.number(5), {}};
    if (find.integer(7) == 0) point.test_error = find.real(6);
    points.push_back(point);
  }
}

/// Rows lie in the order of time, so that writing them touches few pages; one device's are found one by one.
Result<std::vector<DevicePoint>> SqliteHistory::device(ClientId device, std::size_t level,
                                                       std::int64_t from_ms, std::int64_t to_ms) {
  std::vector<DevicePoint> points;
  SqliteStatement& find = internals_->find_point;
  const std::string step = std::to_string(step_of(level));
  // Outside of what there is, nothing needs to be looked for.
  for (const auto& [order, bound] : {std::pair{"ASC", &from_ms}, std::pair{"DESC", &to_ms}}) {
    TRY(const std::string end,
        internals_->database.query_text("SELECT time FROM history_devices WHERE step = " + step +
                                        " ORDER BY time " + order + " LIMIT 1"));
    if (end.empty()) return points;
    const std::int64_t time = std::stoll(end);
    *bound = bound == &from_ms ? std::max(from_ms, time) : std::min(to_ms, time + 1);
  }
  from_ms = step_begin(from_ms, step_of(level));
  for (std::int64_t time = from_ms; time < to_ms; time += step_of(level)) {
    auto found = find.bind(step_of(level)).bind(time).bind(device).step();
    if (found.ok() && *found && find.integer(6) == 0) {
      found = damaged_row("history_devices", step + " " + std::to_string(time));
    } else if (found.ok() && *found) {
      points.push_back({time, device, find.number(0), find.number(1), find.number(2), find.number(3),
                        find.real(4), find.real(5)});
    }
    find.reset();
    if (!found.ok()) return found.error();
  }
  return points;
}

Result<std::optional<ClientId>> SqliteHistory::find_device(const std::string& name) {
  SqliteStatement& find = internals_->find_name;
  const auto found = find.bind(std::string_view(name)).step();
  std::optional<ClientId> id;
  if (found.ok() && *found) id = find.number(0);
  find.reset();
  if (!found.ok()) return found.error();
  return id;
}

}  // namespace aflguard::gateway
