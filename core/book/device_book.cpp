#include "core/book/device_book.h"

#include <algorithm>
#include <cstring>

#include "core/base/rfc3339.h"
#include "core/book/book_schema.h"
#include "core/book/book_source.h"
#include "core/book/json_device_book.h"

namespace aflguard {
namespace fs = std::filesystem;
using std::chrono::system_clock;
namespace {

constexpr const char* kDevices =
    "SELECT d.name, d.revoked, d.enrolled, d.checksum IS row_checksum(d.id, d.name, d.revoked, d.enrolled, "
    "d.revision), k.public_key, k.serial, k.not_after, k.checksum IS row_checksum(k.device, k.position, "
    "k.key_id, k.public_key, k.serial, k.not_after) FROM devices d LEFT JOIN keys k ON k.device = d.id ";

std::int64_t to_seconds(system_clock::time_point time) {
  return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
}

system_clock::time_point from_seconds(std::int64_t seconds) {
  return nearest_system_time(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
}

/// Ready for its next use, however this one ends.
class InUse final {
 public:
  explicit InUse(SqliteStatement& statement) : statement_(statement) {}
  ~InUse() { statement_.reset(); }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  SqliteStatement* operator->() { return &statement_; }
  SqliteStatement& operator*() { return statement_; }

 private:
  SqliteStatement& statement_;
};

bool read_public_key(std::span<const std::byte> bytes, PublicKey& key) {
  if (bytes.size() != key.size()) return false;
  std::memcpy(key.data(), bytes.data(), key.size());
  return true;
}

Error changed_row(std::string_view device) {
  return corrupt("the row of device '" + std::string(device) +
                 "' has changed; restore the book from a backup");
}

/// The key in the row of kDevices.
Result<DeviceKey> key_in(const SqliteStatement& row) {
  DeviceKey key;
  if (row.integer(7) != 1 || !read_public_key(row.blob(4), key.public_key)) return changed_row(row.text(0));
  key.serial = row.text(5);
  key.not_after = from_seconds(row.integer(6));
  return key;
}

/// Rows of kDevices, by device and position, become devices.
Status collect(SqliteStatement& rows, const std::function<Status(const Device&)>& take) {
  Device device;
  while (true) {
    TRY(const bool more, rows.step());
    const std::string name = more ? rows.text(0) : std::string();
    if (!device.name.empty() && device.name != name) TRY_STATUS(take(std::exchange(device, {})));
    if (!more) return {};
    if (rows.integer(3) != 1) return changed_row(name);
    device.name = name;
    device.revoked = rows.integer(1) != 0;
    device.enrolled = from_seconds(rows.integer(2));
    TRY(DeviceKey key, key_in(rows));
    device.keys.push_back(std::move(key));
  }
}

}  // namespace

struct DeviceBook::Internals {
  BookSource source;
  SqliteStatement state;
  SqliteStatement find_device;
  SqliteStatement find_key;
  SqliteStatement find_active;
  SqliteStatement next_id;
  SqliteStatement raise;
  SqliteStatement add_device;
  SqliteStatement add_key;
  SqliteStatement drop_keys;
  SqliteStatement put_device;

  explicit Internals(BookSource from) : source(std::move(from)) {}
  SqliteDatabase& database() { return source.database; }

  Status prepare() {
    TRY(state, database().prepare("SELECT identity, revision, devices, active FROM book"));
    TRY(find_device, database().prepare(std::string(kDevices) + "WHERE d.name = ? ORDER BY k.position"));
    TRY(find_key,
        database().prepare("SELECT d.name, d.revoked, d.checksum IS row_checksum(d.id, d.name, d.revoked, "
                           "d.enrolled, d.revision), k.public_key, k.not_after, k.checksum IS "
                           "row_checksum(k.device, k.position, k.key_id, k.public_key, k.serial, "
                           "k.not_after) FROM keys k JOIN devices d ON d.id = k.device WHERE k.key_id = ?"));
    TRY(find_active,
        database().prepare("SELECT id, revoked, checksum IS row_checksum(id, name, revoked, enrolled, "
                           "revision), enrolled FROM devices WHERE name = ?"));
    return {};
  }

  Status prepare_to_write() {
    TRY(next_id, database().prepare("SELECT coalesce(max(id), 0) + 1 FROM devices"));
    TRY(raise, database().prepare("UPDATE book SET revision = revision + 1"));
    TRY(add_device,
        database().prepare("INSERT INTO devices (id, name, revoked, enrolled, revision, checksum) "
                           "VALUES (?1, ?2, ?3, ?4, ?5, row_checksum(?1, ?2, ?3, ?4, ?5))"));
    TRY(add_key, database().prepare(
                     "INSERT INTO keys (device, position, key_id, public_key, serial, not_after, "
                     "checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, row_checksum(?1, ?2, ?3, ?4, ?5, ?6))"));
    TRY(drop_keys, database().prepare("DELETE FROM keys WHERE device = ?"));
    TRY(put_device, database().prepare("UPDATE devices SET revoked = ?2, revision = ?3, checksum = "
                                       "row_checksum(id, name, ?2, enrolled, ?3) WHERE id = ?1"));
    return {};
  }

  Error in_book(const Error& error) const { return at(source.path.string(), error); }

  /// All of `work` or nothing.
  Status change(const std::function<Status(std::uint64_t revision)>& work) {
    TRY_STATUS(database().run("BEGIN IMMEDIATE"));
    Status done = raise.run();
    std::uint64_t revision = 0;
    if (done.ok()) {
      InUse row(state);
      const auto found = row->step();
      if (found.ok()) revision = row->number(1);
      if (!found.ok()) done = found.error();
    }
    if (done.ok()) done = work(revision);
    if (done.ok()) done = database().run("COMMIT");
    if (!done.ok()) (void)database().run("ROLLBACK");  // some failures have rolled back by themselves
    return done;
  }

  /// The number of an enrolled device and whether it is revoked.
  struct Row {
    std::int64_t id = 0;
    bool revoked = false;
  };
  Result<std::optional<Row>> row_of(std::string_view name) {
    InUse row(find_active);
    TRY(const bool found, row->bind(name).step());
    if (!found) return std::optional<Row>();
    if (row->integer(2) != 1) return in_book(changed_row(name));
    return std::optional<Row>({row->integer(0), row->integer(1) != 0});
  }

  Status insert_keys(std::int64_t device, std::string_view name, std::span<const DeviceKey> keys) {
    std::int64_t position = 0;
    for (const DeviceKey& key : keys) {
      const KeyId id = key_id_of(key.public_key);
      TRY(const auto owner, owner_of(id));
      if (owner) {
        return invalid_input(owner->device == name
                                 ? "device '" + std::string(name) + "' has one key twice"
                                 : "the key of device '" + std::string(name) + "' belongs to device '" +
                                       owner->device + "' already; make a new key on the device");
      }
      TRY_STATUS(add_key.bind(device)
                     .bind(position++)
                     .bind(std::as_bytes(std::span(id)))
                     .bind(std::as_bytes(std::span(key.public_key)))
                     .bind(std::string_view(key.serial))
                     .bind(to_seconds(key.not_after))
                     .run());
    }
    return {};
  }

  Result<std::optional<BookKey>> owner_of(const KeyId& id) {
    InUse row(find_key);
    TRY(const bool found, row->bind(std::as_bytes(std::span(id))).step());
    if (!found) return std::optional<BookKey>();
    BookKey key;
    key.device = row->text(0);
    key.revoked = row->integer(1) != 0;
    key.not_after = from_seconds(row->integer(4));
    if (row->integer(2) != 1 || row->integer(5) != 1 || !read_public_key(row->blob(3), key.public_key)) {
      return in_book(changed_row(key.device));
    }
    return std::optional<BookKey>(std::move(key));
  }

  Status insert(const Device& device, std::int64_t id, std::uint64_t revision) {
    if (const Status checked = check_device(device); !checked.ok()) {
      return invalid_input(checked.error().message);
    }
    TRY(const auto known, row_of(device.name));
    if (known) return invalid_input("device '" + device.name + "' is there twice");
    TRY_STATUS(add_device.bind(id)
                   .bind(std::string_view(device.name))
                   .bind(std::int64_t{device.revoked})
                   .bind(to_seconds(device.enrolled))
                   .bind(revision)
                   .run());
    return insert_keys(id, device.name, device.keys);
  }

  Status insert_all(std::span<const Device> devices, std::uint64_t revision) {
    std::int64_t id = 0;
    {
      InUse row(next_id);
      TRY_STATUS(first_row(*row));
      id = row->integer(0);
    }
    if (devices.size() > kMaxDevicesInBook - std::min<std::size_t>(kMaxDevicesInBook, id - 1)) {
      return invalid_input("the book would have " + std::to_string(id - 1 + devices.size()) +
                           " devices, the limit is " + std::to_string(kMaxDevicesInBook));
    }
    for (const Device& device : devices) TRY_STATUS(insert(device, id++, revision));
    return {};
  }

  static Status first_row(SqliteStatement& statement) {
    TRY(const bool found, statement.step());
    return found ? Status() : Status(corrupt("a row is missing"));
  }
};

DeviceBook::DeviceBook(std::unique_ptr<Internals> internals) : internals_(std::move(internals)) {}
DeviceBook::DeviceBook(DeviceBook&&) noexcept = default;
DeviceBook& DeviceBook::operator=(DeviceBook&&) noexcept = default;
DeviceBook::~DeviceBook() = default;

Status DeviceBook::create(const fs::path& path) {
  TRY(auto database, make_book_file(path));
  return {};
}

namespace {

/// A book that a killed import has not finished is made again.
Status import_json_book(const fs::path& path) {
  const fs::path json = json_device_book_path(path);
  TRY(const auto devices, read_json_device_book(json));
  const fs::path unfinished = path.string() + ".import";
  std::error_code error;
  fs::remove(unfinished, error);
  fs::remove(unfinished.string() + "-journal", error);
  {
    TRY_STATUS(DeviceBook::create(unfinished));
    TRY(auto book, DeviceBook::open(unfinished));
    TRY_STATUS(book.add(devices));
  }
  fs::rename(unfinished, path, error);
  if (!error) fs::rename(json, json.string() + ".imported", error);
  if (error)
    return io_error("cannot put " + path.string() + " in place of " + json.string() + ": " + error.message());
  return {};
}

}  // namespace

Result<DeviceBook> DeviceBook::open(const fs::path& configured) {
  const fs::path path = device_book_path(configured);
  std::error_code error;
  if (!fs::exists(path, error) && fs::exists(json_device_book_path(path), error)) {
    TRY_STATUS(import_json_book(path));
  }
  TRY(auto source, open_book_file(path, SqliteDatabase::Access::kReadWrite));
  auto internals = std::make_unique<Internals>(std::move(source));
  TRY_STATUS(internals->prepare());
  TRY_STATUS(internals->prepare_to_write());
  return DeviceBook(std::move(internals));
}

Result<DeviceBook> DeviceBook::open_to_read(const fs::path& configured) {
  const fs::path path = device_book_path(configured);
  std::error_code error;
  if (fs::exists(path, error) || !fs::exists(json_device_book_path(path), error)) {
    TRY(auto source, open_book_to_read(path));
    auto internals = std::make_unique<Internals>(std::move(source));
    TRY_STATUS(internals->prepare());
    return DeviceBook(std::move(internals));
  }
  TRY(auto source, open_book_in_memory(path));
  TRY(const auto devices, read_json_device_book(json_device_book_path(path)));
  auto internals = std::make_unique<Internals>(std::move(source));
  TRY_STATUS(internals->prepare());
  TRY_STATUS(internals->prepare_to_write());
  DeviceBook book(std::move(internals));
  TRY_STATUS(book.add(devices));
  return book;
}

bool DeviceBook::is_current() const {
  return internals_->source.is_current();
}

Result<DeviceBook::State> DeviceBook::state() {
  InUse row(internals_->state);
  TRY_STATUS(Internals::first_row(*row));
  return State{row->text(0), row->number(1), row->number(2), row->number(3)};
}

Result<std::optional<Device>> DeviceBook::find(std::string_view name) {
  InUse rows(internals_->find_device);
  rows->bind(name);
  std::optional<Device> found;
  const Status read = collect(*rows, [&](const Device& device) -> Status {
    found = device;
    return {};
  });
  if (!read.ok()) return internals_->in_book(read.error());
  return found;
}

Result<std::optional<BookKey>> DeviceBook::find_key(const KeyId& id) {
  return internals_->owner_of(id);
}

Result<bool> DeviceBook::is_active(std::string_view name) {
  TRY(const auto row, internals_->row_of(name));
  return row.has_value() && !row->revoked;
}

namespace {

Status read_devices(SqliteDatabase& database, const std::string& which,
                    const std::function<Status(const Device&)>& take) {
  TRY(auto rows, database.prepare(kDevices + which + " ORDER BY d.id, k.position"));
  return collect(rows, take);
}

}  // namespace

Status DeviceBook::each(const std::function<Status(const Device&)>& take) {
  return read_devices(internals_->database(), "", take);
}

Status DeviceBook::each_revoked(const std::function<Status(const Device&)>& take) {
  return read_devices(internals_->database(), "WHERE d.revoked = 1", take);
}

namespace {

Status read_names(SqliteStatement& rows, const std::function<void(std::string_view)>& take) {
  while (true) {
    TRY(const bool more, rows.step());
    if (!more) return {};
    take(rows.text(0));
  }
}

}  // namespace

Status DeviceBook::each_active_name(const std::function<void(std::string_view)>& take) {
  TRY(auto rows, internals_->database().prepare("SELECT name FROM devices WHERE revoked = 0 ORDER BY name"));
  return read_names(rows, take);
}

Status DeviceBook::each_name(const std::string& prefix, const std::function<void(std::string_view)>& take) {
  TRY(auto rows, internals_->database().prepare("SELECT name FROM devices WHERE name >= ? AND name < ?"));
  const std::string end = prefix + "\x7f";  // behind every letter of a name
  rows.bind(std::string_view(prefix)).bind(std::string_view(end));
  return read_names(rows, take);
}

Result<std::optional<std::vector<BookChange>>> DeviceBook::changed_since(std::uint64_t revision,
                                                                         std::size_t limit) {
  TRY(auto rows, internals_->database().prepare(
                     "SELECT name, revoked FROM devices WHERE revision > ? ORDER BY revision LIMIT ?"));
  rows.bind(revision).bind(std::uint64_t{limit + 1});
  std::vector<BookChange> changes;
  while (true) {
    TRY(const bool more, rows.step());
    if (!more) return std::optional(std::move(changes));
    if (changes.size() == limit) return std::optional<std::vector<BookChange>>();
    changes.push_back({rows.text(0), rows.integer(1) != 0});
  }
}

Status DeviceBook::add(std::span<const Device> devices) {
  return internals_->change(
      [&](std::uint64_t revision) { return internals_->insert_all(devices, revision); });
}

Status DeviceBook::set_keys(std::string_view name, std::span<const DeviceKey> keys) {
  return internals_->change([&](std::uint64_t revision) -> Status {
    TRY(const auto row, internals_->row_of(name));
    if (!row) return not_found("the book has no device '" + std::string(name) + "'");
    const Device wanted{std::string(name), {keys.begin(), keys.end()}, row->revoked, {}};
    if (const Status checked = check_device(wanted); !checked.ok()) {
      return invalid_input(checked.error().message);
    }
    TRY_STATUS(internals_->drop_keys.bind(row->id).run());
    TRY_STATUS(internals_->insert_keys(row->id, name, keys));
    return internals_->put_device.bind(row->id).bind(std::int64_t{row->revoked}).bind(revision).run();
  });
}

Status DeviceBook::revoke(std::string_view name) {
  return internals_->change([&](std::uint64_t revision) -> Status {
    TRY(const auto row, internals_->row_of(name));
    if (!row) return not_found("the book has no device '" + std::string(name) + "'");
    return internals_->put_device.bind(row->id).bind(std::int64_t{1}).bind(revision).run();
  });
}

Status DeviceBook::check_content() {
  const Status checked = check_book_content(internals_->database());
  if (checked.ok()) return {};
  return corrupt(internals_->source.path.string() + " is damaged (" + checked.error().message +
                 "); restore it from a backup");
}

}  // namespace aflguard
