#include "core/system/secret_file.h"

#include <cstdio>

#include "core/system/atomic_file.h"

namespace aflguard {
namespace {

constexpr std::uint64_t kMaxSecret = 64u << 10;

}  // namespace

Result<std::string> read_secret_file(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::perms allowed = fs::status(path, failed).permissions();
  constexpr fs::perms kOthers = fs::perms::group_all | fs::perms::others_all;
  if (!failed && (allowed & kOthers) != fs::perms::none) {
    char mode[8];
    std::snprintf(mode, sizeof(mode), "%04o", static_cast<unsigned>(allowed) & 07777U);
    return invalid_input(path.string() + ": a private key that others may use (mode " + mode +
                         "); 'chmod 600' it, and make a new key if others may have read it");
  }
  return read_text_file(path, kMaxSecret);
}

}  // namespace aflguard
