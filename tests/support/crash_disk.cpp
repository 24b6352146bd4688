#include "tests/support/crash_disk.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <sqlite3.h>
#include <vector>

#include "core/base/random.h"
#include "tests/support/test.h"

namespace aflguard::testing {

namespace {

constexpr std::size_t kSector = 512;

using Content = std::vector<char>;

/// One change that is not synced yet.
struct Change {
  std::size_t at = 0;
  Content bytes;
  std::optional<std::size_t> size;  ///< a truncation
};

void apply(Content& content, const Change& change) {
  if (change.size) {
    content.resize(*change.size);
    return;
  }
  if (content.size() < change.at + change.bytes.size()) content.resize(change.at + change.bytes.size());
  std::copy(change.bytes.begin(), change.bytes.end(),
            content.begin() + static_cast<std::ptrdiff_t>(change.at));
}

/// A file as it is after its last sync, and what came since.
struct TrackedFile {
  Content durable;
  std::vector<Change> unsynced;
};

Content read_content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

struct CrashDisk::Disk {
  enum class Outcome : std::uint8_t { kDone, kFails, kHalf, kOff };

  std::filesystem::path folder;
  Random random;
  sqlite3_vfs vfs{};
  sqlite3_vfs* real = nullptr;
  std::mutex mutex;
  std::map<std::string, TrackedFile> files;  ///< by path
  DiskFault fault = DiskFault::kKill;
  std::uint64_t point = 0;
  std::uint64_t count = 0;
  bool struck = false;
  bool off = false;

  Disk(std::filesystem::path in, std::uint64_t seed) : folder(std::move(in)), random(seed) {}

  /// The next operation.
  Outcome next() {
    if (off) return Outcome::kOff;
    if (++count != point) return Outcome::kDone;
    struck = true;
    if (fault == DiskFault::kFail) return Outcome::kFails;
    if (fault == DiskFault::kFull) return Outcome::kHalf;
    off = true;
    return fault == DiskFault::kTear ? Outcome::kHalf : Outcome::kOff;
  }

  [[nodiscard]] bool tracks(const char* path) const {
    return path != nullptr && std::filesystem::path(path).parent_path() == folder;
  }
};

namespace {

CrashDisk::Disk* the_disk = nullptr;  // SQLite's methods get no other context

/// SQLite allocates it, with the real file behind it.
struct File {
  sqlite3_file base;
  bool tracked;
  char path[512];
  [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& self(sqlite3_file* file) {
  return *reinterpret_cast<File*>(file);
}

using Outcome = CrashDisk::Disk::Outcome;

int file_close(sqlite3_file* file) {
  return self(file).real()->pMethods->xClose(self(file).real());
}

int file_read(sqlite3_file* file, void* into, int size, sqlite3_int64 at) {
  return self(file).real()->pMethods->xRead(self(file).real(), into, size, at);
}

int file_write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  File& mine = self(file);
  if (!mine.tracked) return mine.real()->pMethods->xWrite(mine.real(), bytes, size, at);
  const std::lock_guard lock(the_disk->mutex);
  const Outcome outcome = the_disk->next();
  if (outcome == Outcome::kOff || outcome == Outcome::kFails) return SQLITE_IOERR_WRITE;
  int taken = size;
  if (outcome == Outcome::kHalf)
    taken = static_cast<int>(the_disk->random.below(static_cast<std::uint64_t>(size)));
  const char* from = static_cast<const char*>(bytes);
  the_disk->files[mine.path].unsynced.push_back(
      {static_cast<std::size_t>(at), Content(from, from + taken), std::nullopt});
  const int code = taken == 0 ? SQLITE_OK : mine.real()->pMethods->xWrite(mine.real(), bytes, taken, at);
  if (code != SQLITE_OK || taken == size) return code;
  return the_disk->fault == DiskFault::kFull ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  File& mine = self(file);
  if (!mine.tracked) return mine.real()->pMethods->xTruncate(mine.real(), size);
  const std::lock_guard lock(the_disk->mutex);
  if (the_disk->next() != Outcome::kDone) return SQLITE_IOERR_TRUNCATE;
  the_disk->files[mine.path].unsynced.push_back({0, {}, static_cast<std::size_t>(size)});
  return mine.real()->pMethods->xTruncate(mine.real(), size);
}

int file_sync(sqlite3_file* file, int flags) {
  File& mine = self(file);
  if (!mine.tracked) return mine.real()->pMethods->xSync(mine.real(), flags);
  const std::lock_guard lock(the_disk->mutex);
  if (the_disk->next() != Outcome::kDone) return SQLITE_IOERR_FSYNC;
  TrackedFile& tracked = the_disk->files[mine.path];
  for (const Change& change : tracked.unsynced) apply(tracked.durable, change);
  tracked.unsynced.clear();
  return SQLITE_OK;  // the folder's own disk has nothing to do with it
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return self(file).real()->pMethods->xFileSize(self(file).real(), size);
}
int file_lock(sqlite3_file* file, int kind) {
  return self(file).real()->pMethods->xLock(self(file).real(), kind);
}
int file_unlock(sqlite3_file* file, int kind) {
  return self(file).real()->pMethods->xUnlock(self(file).real(), kind);
}
int file_reserved(sqlite3_file* file, int* held) {
  return self(file).real()->pMethods->xCheckReservedLock(self(file).real(), held);
}
int file_control(sqlite3_file* file, int what, void* argument) {
  return self(file).real()->pMethods->xFileControl(self(file).real(), what, argument);
}
int file_sector(sqlite3_file*) {
  return kSector;
}
int file_traits(sqlite3_file*) {
  return 0;
}
int file_map(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
  return self(file).real()->pMethods->xShmMap(self(file).real(), page, size, extend, memory);
}
int file_map_lock(sqlite3_file* file, int at, int count, int flags) {
  return self(file).real()->pMethods->xShmLock(self(file).real(), at, count, flags);
}
void file_map_barrier(sqlite3_file* file) {
  self(file).real()->pMethods->xShmBarrier(self(file).real());
}
int file_unmap(sqlite3_file* file, int remove) {
  return self(file).real()->pMethods->xShmUnmap(self(file).real(), remove);
}

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_map,
    .xShmLock = file_map_lock,
    .xShmBarrier = file_map_barrier,
    .xShmUnmap = file_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int disk_open(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* given) {
  sqlite3_vfs* real = the_disk->real;
  File& mine = *new (file) File{};
  mine.tracked = the_disk->tracks(path);
  if (mine.tracked) std::strncpy(mine.path, path, sizeof mine.path - 1);
  const int code = real->xOpen(real, path, mine.real(), flags, given);
  if (code != SQLITE_OK) return code;
  mine.base.pMethods = &kMethods;
  const std::lock_guard lock(the_disk->mutex);
  if (mine.tracked && !the_disk->files.contains(mine.path)) {
    the_disk->files[mine.path].durable = read_content(mine.path);
  }
  return SQLITE_OK;
}

int disk_delete(sqlite3_vfs*, const char* path, int sync) {
  sqlite3_vfs* real = the_disk->real;
  if (!the_disk->tracks(path)) return real->xDelete(real, path, sync);
  const std::lock_guard lock(the_disk->mutex);
  if (the_disk->next() != Outcome::kDone) return SQLITE_IOERR_DELETE;
  the_disk->files.erase(path);
  return real->xDelete(real, path, 0);
}

}  // namespace

CrashDisk::CrashDisk(std::filesystem::path folder, std::uint64_t seed)
    : disk_(std::make_unique<Disk>(std::move(folder), seed)) {
  TEST_ASSERT_NULL_MESSAGE(the_disk, "one at a time");
  the_disk = disk_.get();
  disk_->real = sqlite3_vfs_find(nullptr);
  disk_->vfs = *disk_->real;
  disk_->vfs.pNext = nullptr;
  disk_->vfs.zName = "aflguard-crash-disk";
  disk_->vfs.szOsFile = static_cast<int>(sizeof(File)) + disk_->real->szOsFile;
  disk_->vfs.xOpen = disk_open;
  disk_->vfs.xDelete = disk_delete;
  sqlite3_vfs_register(&disk_->vfs, 1);
}

CrashDisk::~CrashDisk() {
  sqlite3_vfs_unregister(&disk_->vfs);
  sqlite3_vfs_register(disk_->real, 1);
  the_disk = nullptr;
}

void CrashDisk::arm(DiskFault fault, std::uint64_t point) {
  disk_->fault = fault;
  disk_->point = point;
  disk_->count = 0;
  disk_->struck = false;
  disk_->off = false;
  disk_->files.clear();
}

std::uint64_t CrashDisk::operations() const {
  return disk_->count;
}

bool CrashDisk::struck() const {
  return disk_->struck;
}

void CrashDisk::settle() {
  disk_->off = false;
  disk_->point = 0;
  const bool power = disk_->struck && (disk_->fault == DiskFault::kDrop || disk_->fault == DiskFault::kTear ||
                                       disk_->fault == DiskFault::kReorder);
  for (auto& [path, file] : disk_->files) {
    if (!power || !std::filesystem::exists(path)) continue;
    Content content = file.durable;
    for (const Change& change : file.unsynced) {
      if (disk_->fault == DiskFault::kTear) apply(content, change);
      if (disk_->fault != DiskFault::kReorder) continue;
      if (change.size) {
        if (disk_->random.below(2) == 0) apply(content, change);
        continue;
      }
      for (std::size_t from = 0; from < change.bytes.size();) {
        const std::size_t sector_end = kSector - (change.at + from) % kSector;
        const std::size_t size = std::min(sector_end, change.bytes.size() - from);
        const auto begin = change.bytes.begin() + static_cast<std::ptrdiff_t>(from);
        if (disk_->random.below(2) == 0) {
          apply(content, {change.at + from, Content(begin, begin + static_cast<std::ptrdiff_t>(size)), {}});
        }
        from += size;
      }
    }
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    TEST_ASSERT_TRUE(out.flush().good());
    std::filesystem::remove(path.substr(0, path.rfind("-wal")) + "-shm");
  }
  disk_->files.clear();
}

}  // namespace aflguard::testing
