#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/identity/certificate.h"
#include "core/identity_mbedtls/mbedtls_signer.h"

namespace aflguard {

/// The first certificate of a PEM text. kInvalidInput when it is none, has no common name or no P-256 key.
[[nodiscard]] Result<Certificate> read_certificate_pem(std::string_view pem);

/// kInvalidInput when the first certificate of `pem` was not issued by one of `authorities` (PEM). Its dates
/// and uses are not looked at.
[[nodiscard]] Status check_issuer(std::string_view pem, std::string_view authorities);

/// Every "PUBLIC KEY" block of a PEM text, at least one; kInvalidInput when one is not a P-256 key.
[[nodiscard]] Result<std::vector<PublicKey>> read_public_keys_pem(std::string_view pem);

/// A PKCS#10 request in PEM for a certificate with that common name, signed with the key that it asks for.
[[nodiscard]] Result<std::string> make_certificate_request(const MbedtlsSigner& key,
                                                           const std::string& common_name);

}  // namespace aflguard
