#include "gateway_server/store/store_files.h"

#include <sys/stat.h>

namespace aflguard::gateway {

StoreFiles::StoreFiles(std::vector<std::filesystem::path> files) {
  for (auto& path : files) files_.push_back({std::move(path), std::nullopt});
}

std::optional<StoreFiles::Identity> StoreFiles::identify(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return Identity{found.st_dev, found.st_ino};
}

void StoreFiles::note() {
  for (File& file : files_) file.identity = identify(file.path);
}

Status StoreFiles::check() const {
  for (const File& file : files_) {
    const auto now = identify(file.path);
    if (!file.identity || now == file.identity) continue;
    return corrupt(file.path.string() + ": was " + (now ? "replaced" : "removed") +
                   " while the gateway uses it, so nothing is answered any more; stop the gateway, bring the "
                   "store back from a backup, and start it");
  }
  return {};
}

}  // namespace aflguard::gateway
