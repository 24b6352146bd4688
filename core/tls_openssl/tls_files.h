#pragma once

#include <filesystem>

namespace aflguard {

/// TLS 1.3 with certificates on both sides, all in PEM. The broker's certificate must name the host that is
/// connected to.
struct TlsFiles {
  std::filesystem::path ca_file;           ///< who may vouch for the broker
  std::filesystem::path certificate_file;  ///< this client's, its chain behind it
  std::filesystem::path key_file;          ///< not encrypted; readable by its owner only
};

}  // namespace aflguard
