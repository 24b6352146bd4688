#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/identity/signature.h"

namespace aflguard::fleet {

enum class CertificateUse : std::uint8_t { kClient, kServer };

/// What a certificate says. Times are kept to the second.
struct CertificateOptions {
  std::string name;  ///< the subject's common name: an identifier
  CertificateUse use = CertificateUse::kClient;
  std::vector<std::string> alternative_names;  ///< "DNS:host", "IP:192.0.2.1", "URI:urn:..."
  std::chrono::system_clock::time_point not_before;
  std::chrono::system_clock::time_point not_after;
};

struct IssuedCertificate {
  std::string pem;
  PublicKey public_key{};
  std::string public_pem;  ///< the key alone
  std::string serial;      ///< 128 random bits, lower-case hex
  std::chrono::system_clock::time_point not_after;
};

/// A certificate with a key that was made for it; the holder keeps `private_pem` secret.
struct Credential {
  IssuedCertificate certificate;
  std::string private_pem;
};

/// A fleet's own authority: signs certificates of P-256 keys and lists the revoked ones. Every certificate
/// ends before the authority's own does (kInvalidInput otherwise).
class CertificateAuthority {
 public:
  virtual ~CertificateAuthority() = default;

  [[nodiscard]] virtual const std::string& certificate_pem() const = 0;
  /// PKCS#8; the caller keeps it secret.
  [[nodiscard]] virtual Result<std::string> private_pem() const = 0;
  [[nodiscard]] virtual std::chrono::system_clock::time_point not_after() const = 0;

  [[nodiscard]] virtual Result<Credential> issue(const CertificateOptions& terms) = 0;
  /// For a private key that exists already.
  [[nodiscard]] virtual Result<IssuedCertificate> issue_for_key(std::string_view private_pem,
                                                                const CertificateOptions& terms) = 0;
  /// For the key of a certificate signing request (PEM). The request proves that its maker holds the key; of
  /// what else it says, only the name is looked at: kInvalidInput when it is there and is another one.
  [[nodiscard]] virtual Result<IssuedCertificate> issue_for_request(std::string_view request_pem,
                                                                    const CertificateOptions& terms) = 0;

  /// The key that a certificate signing request (PEM) asks for, and proves to hold.
  [[nodiscard]] virtual Result<PublicKey> requested_key(std::string_view request_pem) = 0;

  /// A password that cannot be guessed: 192 random bits in letters, digits, '-' and '_'.
  [[nodiscard]] virtual Result<std::string> new_password() = 0;
  /// What a broker keeps of a password, with new salt: a field of Mosquitto's password file.
  [[nodiscard]] virtual Result<std::string> password_verifier(std::string_view password) = 0;

  /// The list of revoked serials (PEM), valid as long as the authority. It is dated `now`, or a second after
  /// `previous` when that is later, and numbered one higher: readers tell the newest of two by that.
  [[nodiscard]] virtual Result<std::string> revocation_list(std::span<const std::string> serials,
                                                            std::string_view previous_pem,
                                                            std::chrono::system_clock::time_point now) = 0;
};

}  // namespace aflguard::fleet
