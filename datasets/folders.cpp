#include "datasets/folders.h"

#include <cstdlib>
#include <string>

namespace aflguard::datasets {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

Result<std::filesystem::path> folder(const char* own, const char* xdg, const char* below_home) {
  if (const auto path = variable(own); !path.empty()) {
    std::error_code error;
    const auto absolute = std::filesystem::absolute(path, error);
    return error ? std::filesystem::path(path) : absolute;
  }
  // The XDG specification has relative paths ignored.
  if (const std::filesystem::path base = variable(xdg); base.is_absolute()) return base / "aflguard";
  if (const std::filesystem::path home = variable("HOME"); home.is_absolute()) {
    return home / below_home / "aflguard";
  }
  return invalid_input(std::string("no folder to use: set ") + own + " to one, or HOME");
}

}  // namespace

Result<std::filesystem::path> data_folder() {
  return folder("AFLGUARD_DATA", "XDG_DATA_HOME", ".local/share");
}

Result<std::filesystem::path> cache_folder() {
  return folder("AFLGUARD_CACHE", "XDG_CACHE_HOME", ".cache");
}

}  // namespace aflguard::datasets
