#include "edge_client/identity.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/rfc3339.h"
#include "core/system/atomic_file.h"

namespace aflguard::edge {
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
    const std::string text = "cannot open " + name + ": " + std::strerror(errno);
    return errno == ENOENT ? not_found(text) : io_error(text);
  }
  if (!S_ISREG(info.st_mode)) return invalid_input(name + " is not a regular file");
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return invalid_input(name + " belongs to user " + std::to_string(info.st_uid) + ", and this is user " +
                         std::to_string(::geteuid()) + "; chown it to the user who runs the client");
  }
  if ((info.st_mode & kOthers) != 0) {
    return invalid_input(name + " may be read by others (mode " + octal(info.st_mode) + "); run: chmod 600 " +
                         name);
  }
  return read_text_file(path, kMaxSecretBytes);
}

Status check_identity(const Certificate& certificate, const PublicKey& key, const std::string& device,
                      std::chrono::system_clock::time_point now) {
  if (certificate.common_name != device) {
    return invalid_input("the certificate is for '" + certificate.common_name + "', and [fleet] device is '" +
                         device + "'");
  }
  if (certificate.public_key != key) {
    return invalid_input("certificate and key do not belong together; install both of one bundle");
  }
  if (now < certificate.not_before) {
    return unavailable("the certificate is valid from " + to_rfc3339(certificate.not_before) +
                       " on, and the clock says " + to_rfc3339(now) + "; set the clock");
  }
  if (now >= certificate.not_after) {
    return unavailable("the certificate ended at " + to_rfc3339(certificate.not_after) +
                       ", and the clock says " + to_rfc3339(now) + "; renew it with 'aflguard device'");
  }
  return {};
}

}  // namespace aflguard::edge
