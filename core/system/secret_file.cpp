#include "core/system/secret_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system/atomic_file.h"

namespace aflguard {
namespace {

constexpr std::uint64_t kMaxSecretBytes = 64 * 1024;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

}  // namespace

Result<std::string> read_secret_file(const std::filesystem::path& path) {
  struct stat info {};
  const std::string name = path.string();
  if (::stat(path.c_str(), &info) != 0) {
    const int problem = errno;
    const std::string text = "cannot open " + name + ": " + std::strerror(problem);
    return problem == ENOENT ? not_found(text) : io_error(text);
  }
  if (!S_ISREG(info.st_mode)) return invalid_input(name + " is not a regular file");
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return invalid_input(name + " belongs to user " + std::to_string(info.st_uid) + ", and this is user " +
                         std::to_string(::geteuid()) +
                         "; run this as its owner, or chown it to the user who runs this");
  }
  if ((info.st_mode & kOthers) != 0) {
    return invalid_input(name + " may be read by others (mode " + octal(info.st_mode) + "); run: chmod 600 " +
                         name);
  }
  return read_text_file(path, kMaxSecretBytes);
}

}  // namespace aflguard
