#include "core/system/folder_lock.h"

#include <string>
#include <vector>

namespace aflguard {
namespace fs = std::filesystem;

Result<FolderLock> FolderLock::acquire(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  // Every user who may write to the folder may lock it.
  auto lock = FileLock::take(folder / ".lock", {.mode = 0666, .timeout = kLockWithoutTimeout});
  if (!lock.ok()) return io_error("cannot write to " + folder.string() + ": " + lock.error().message);
  return FolderLock(std::move(*lock));
}

void FolderLock::remove_leftovers(const fs::path& target) const {
  constexpr std::size_t kRandomSuffix = 6;  // ".XXXXXX" of mkdtemp, perhaps followed by ".old"
  const std::string prefix = target.filename().string() + ".";
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator it(target.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.ends_with(".old")) name.resize(name.size() - 4);
    if (name.starts_with(prefix) && name.size() == prefix.size() + kRandomSuffix)
      leftovers.push_back(it->path());
  }
  for (const fs::path& path : leftovers) fs::remove_all(path, error);
}

}  // namespace aflguard
