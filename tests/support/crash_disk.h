#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace aflguard::testing {

/// What a disk does at the chosen operation.
enum class DiskFault : std::uint8_t {
  kKill,     ///< the program ends there; what it wrote stays
  kFail,     ///< that operation fails, later ones work
  kFull,     ///< that write stops in its middle: no space; later ones work
  kDrop,     ///< the power goes: nothing that was not synced is there afterwards
  kTear,     ///< the power goes in the middle of the operation; what was written before stays
  kReorder,  ///< the power goes: of what was not synced, any sectors are there, others are not
};

/// A layer between SQLite and the file system (a VFS, the default one while this object lives). It counts the
/// writes, truncations, syncs and removals of files in one folder, and lets one of them go wrong.
class CrashDisk final {
 public:
  CrashDisk(std::filesystem::path folder, std::uint64_t seed);
  ~CrashDisk();
  CrashDisk(const CrashDisk&) = delete;
  CrashDisk& operator=(const CrashDisk&) = delete;

  /// Operation number `point`, from 1, goes wrong; 0: none.
  void arm(DiskFault fault, std::uint64_t point);
  [[nodiscard]] std::uint64_t operations() const;
  /// The chosen operation was reached.
  [[nodiscard]] bool struck() const;
  /// After everything is closed: the folder's files become what such a disk would hold, and operations work
  /// again.
  void settle();

  struct Disk;

 private:
  std::unique_ptr<Disk> disk_;
};

}  // namespace aflguard::testing
