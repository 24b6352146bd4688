#include "firmware_sim/image/client_packages.h"

#include <algorithm>
#include <string>

#include "core/system/programs.h"

namespace aflguard::image {
namespace fs = std::filesystem;
namespace {

bool is_client_package(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.starts_with("aflguard-client_") && name.ends_with("_arm64.deb");
}

/// Beside the build folder of this program, and in the folder where the command was given.
std::vector<fs::path> places() {
  std::vector<fs::path> found = {fs::path("."), fs::path("build/packages")};
  if (const auto programs = own_folder(); programs.ok()) found.push_back(*programs / "../../packages");
  return found;
}

}  // namespace

Result<std::vector<fs::path>> find_client_packages(const std::vector<std::string>& named) {
  if (!named.empty()) return std::vector<fs::path>(named.begin(), named.end());
  fs::path newest;
  fs::file_time_type newest_time{};
  for (const fs::path& place : places()) {
    std::error_code error;
    for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
      if (!is_client_package(it->path())) continue;
      const auto time = fs::last_write_time(it->path(), error);
      if (newest.empty() || time > newest_time) {
        newest = it->path();
        newest_time = time;
      }
    }
  }
  if (newest.empty()) {
    return not_found(
        "there is no aflguard-client_VERSION_arm64.deb here or in build/packages: ./run package makes it, or "
        "name "
        "one with --deb");
  }
  return std::vector<fs::path>{newest.lexically_normal()};
}

}  // namespace aflguard::image
