#pragma once

#include <array>
#include <cstdint>
#include <mbedtls/md.h>

#include "core/identity/signature.h"

namespace aflguard {

/// SHA-256 of the parts, one after the other; false when Mbed TLS fails.
inline bool mbedtls_digest_of(SignedParts parts, std::array<std::uint8_t, 32>& digest) {
  mbedtls_md_context_t context;
  mbedtls_md_init(&context);
  bool ok = mbedtls_md_setup(&context, mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), 0) == 0 &&
            mbedtls_md_starts(&context) == 0;
  for (const auto part : parts) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(part.data());
    ok = ok && mbedtls_md_update(&context, bytes, part.size()) == 0;
  }
  ok = ok && mbedtls_md_finish(&context, digest.data()) == 0;
  mbedtls_md_free(&context);
  return ok;
}

}  // namespace aflguard
