#include "core/system/programs.h"

#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace aflguard {
namespace fs = std::filesystem;

fs::path find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

Status require_program(const std::string& name, const std::string& package) {
  if (!find_program(name).empty()) return {};
  return not_found(name + " is not installed: apt-get install " + package);
}

}  // namespace aflguard
