#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard::fleet {

/// A certificate that ends sooner than that should be renewed now.
inline constexpr std::chrono::days kRenewSoon{30};

/// What a certificate says, for the search for a fault.
struct CertificateFacts {
  std::string name;  ///< the subject's common name
  std::chrono::system_clock::time_point not_before;
  std::chrono::system_clock::time_point not_after;
  bool of_authority = false;  ///< the authority's key signed it
};

/// kInvalidInput when one of the two is not a certificate (PEM).
[[nodiscard]] Result<CertificateFacts> read_certificate_facts(std::string_view certificate_pem,
                                                              std::string_view authority_pem);

/// True when the private key is the certificate's.
[[nodiscard]] bool belong_together(std::string_view certificate_pem, std::string_view private_pem);

struct RevocationFacts {
  std::chrono::system_clock::time_point made;
  std::chrono::system_clock::time_point next;  ///< after this it is not to be trusted any more
  std::size_t revoked = 0;
  bool of_authority = false;
};

/// kInvalidInput when it is not a revocation list (PEM).
[[nodiscard]] Result<RevocationFacts> read_revocation_facts(std::string_view list_pem,
                                                            std::string_view authority_pem);

}  // namespace aflguard::fleet
