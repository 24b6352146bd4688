#include "core/system/own_programs.h"

#include <unistd.h>

namespace aflguard {
namespace fs = std::filesystem;

Result<fs::path> own_folder() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (error) return io_error("cannot find this program's own folder: " + error.message());
  return own.parent_path();
}

Result<fs::path> sibling(const std::string& name) {
  TRY(const fs::path folder, own_folder());
  std::error_code error;
  if (fs::exists(folder / name, error)) return folder / name;
  return not_found("there is no " + (folder / name).string() + "; build or install the whole product");
}

std::string mosquitto_program() {
  constexpr const char* kDebian = "/usr/sbin/mosquitto";
  return ::access(kDebian, X_OK) == 0 ? kDebian : "mosquitto";
}

}  // namespace aflguard
