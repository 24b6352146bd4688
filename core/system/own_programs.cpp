#include "core/system/own_programs.h"

#include <cerrno>
#include <cstring>
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

Status become_sibling(const std::string& name, const std::string& called,
                      const std::vector<std::string>& arguments) {
  TRY(const fs::path program, sibling(name));
  std::vector<char*> raw = {const_cast<char*>(called.c_str())};
  for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
  raw.push_back(nullptr);
  ::execv(program.c_str(), raw.data());
  return io_error("cannot run " + program.string() + ": " + std::strerror(errno));
}

std::string mosquitto_program() {
  constexpr const char* kDebian = "/usr/sbin/mosquitto";
  return ::access(kDebian, X_OK) == 0 ? kDebian : "mosquitto";
}

}  // namespace aflguard
