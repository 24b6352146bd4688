#include "firmware_sim/image/board_package.h"

#include <algorithm>

#include "core/system/child_process.h"

namespace aflguard::image {
namespace fs = std::filesystem;
namespace {

constexpr int kNoSuchProgram = 127;

Result<std::string> fields_of(const fs::path& file) {
  TRY(const ProgramOutcome outcome,
      run_program({"env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "dpkg-deb", "--show",
                   "--showformat=${Package} ${Version} ${Architecture}\n", fs::absolute(file).string()},
                  "/"));
  if (outcome.exit_code == kNoSuchProgram) {
    return not_found("looking into a package needs dpkg-deb; run: apt-get install dpkg");
  }
  if (outcome.exit_code != 0) return invalid_input(outcome.last_line());
  return outcome.output.substr(0, outcome.output.find('\n'));
}

Result<PackageFile> look_at_package(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return not_found("there is no package " + file.string());
  const auto fields = fields_of(file);
  if (!fields.ok()) return at(file.string(), fields.error());
  const auto first = fields->find(' ');
  const auto last = fields->rfind(' ');
  const std::string architecture = fields->substr(last + 1);
  if (architecture != "arm64" && architecture != "all") {
    return invalid_input(file.string() + " is for " + architecture + "; boards need arm64");
  }
  return PackageFile{fs::absolute(file), fields->substr(0, first),
                     fields->substr(first + 1, last - first - 1)};
}

}  // namespace

Result<std::vector<PackageFile>> look_at_packages(const std::vector<fs::path>& files) {
  std::vector<PackageFile> found;
  const auto there = [&](const std::string& name) {
    return std::any_of(found.begin(), found.end(), [&](const auto& package) { return package.name == name; });
  };
  for (const fs::path& file : files) {
    TRY(auto package, look_at_package(file));
    if (there(package.name)) {
      return invalid_input(file.string() + " is " + package.name + " once more; name it once");
    }
    found.push_back(std::move(package));
  }
  if (!there("aflguard-client"))
    return invalid_input("none of the packages is aflguard-client, which a board runs");
  return found;
}

}  // namespace aflguard::image
