#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aflguard {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// FIPS 180-4. For checksums of files and layouts; signatures use the crypto libraries of their adapters.
[[nodiscard]] Sha256Digest sha256(std::span<const std::byte> bytes);
/// Of the parts one after the other.
[[nodiscard]] Sha256Digest sha256(std::span<const std::span<const std::byte>> parts);
[[nodiscard]] std::string sha256_hex(std::span<const std::byte> bytes);
[[nodiscard]] std::string sha256_hex(std::string_view text);

}  // namespace aflguard
