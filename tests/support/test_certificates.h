#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace aflguard::testing {

struct CertificateFiles {
  std::filesystem::path certificate;
  std::filesystem::path key;
};

enum class CertificateUse { kServer, kClient };

/// A certificate authority that lives in one folder for the time of a test. P-256, valid for a day unless
/// asked otherwise; made with OpenSSL's library, so no command is needed.
class TestAuthority final {
 public:
  TestAuthority(std::filesystem::path folder, const std::string& name);
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  [[nodiscard]] std::filesystem::path certificate() const;
  /// `names` in OpenSSL's form, e.g. "DNS:localhost,IP:127.0.0.1"; empty for none. The certificate ends
  /// `seconds` from now, which may be in the past.
  [[nodiscard]] CertificateFiles issue(const std::string& common_name, CertificateUse use,
                                       const std::string& names = {}, long seconds = 86'400);

  /// Writes the list of revoked certificates, which is empty without this call or with no files.
  void write_revocations(const std::vector<CertificateFiles>& revoked = {});
  [[nodiscard]] std::filesystem::path revocations() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aflguard::testing
