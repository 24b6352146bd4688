#include "core/system/programs.h"

#include <cstdlib>
#include <sstream>
#include <unistd.h>

namespace aflguard {
namespace fs = std::filesystem;

Result<fs::path> own_folder() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (error) return io_error("cannot find this program's own folder: " + error.message());
  return own.parent_path();
}

Result<fs::path> program_beside_us(const std::string& name) {
  TRY(const fs::path folder, own_folder());
  std::error_code error;
  if (fs::exists(folder / name, error)) return folder / name;
  return not_found("there is no " + (folder / name).string() + "; build or install the whole product");
}

std::string mosquitto_program() {
  constexpr const char* kDebian = "/usr/sbin/mosquitto";
  return ::access(kDebian, X_OK) == 0 ? kDebian : "mosquitto";
}

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
