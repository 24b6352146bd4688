#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/sha256.h"
#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/verdict/refusal.h"

namespace aflguard {

inline constexpr std::size_t kReleasePieceBytes = 32u << 10;
inline constexpr std::size_t kMaxPackageBytes = 64u << 20;  ///< of an archive, packed
inline constexpr std::size_t kMaxCanaries = 256;
inline constexpr std::size_t kMaxModelName = 64;

/// An order of the fleet's owner, signed with the release key: from now on the fleet trains this model. Which
/// pieces its package comes in is part of it, so that every piece is checked when it arrives.
struct ReleaseMessage {
  std::string fleet;
  std::uint64_t number = 1;        ///< of the order; a higher one replaces a lower one
  std::uint64_t model_number = 1;  ///< of the model; the one that a fleet begins with is number 1
  std::string model_name;          ///< printable, for people
  ModelHash model_hash{};
  ModelHash replaces{};               ///< the model that the fleet trained when the order was given
  std::uint64_t package_bytes = 0;    ///< of the archive (package_archive.h)
  Sha256Digest package_digest{};      ///< of the archive
  std::vector<Sha256Digest> pieces;   ///< of each piece: kReleasePieceBytes, the last one perhaps less
  std::vector<std::string> canaries;  ///< devices that try the model first; empty: the fleet takes it at once

  friend bool operator==(const ReleaseMessage&, const ReleaseMessage&) = default;
};

/// Pieces that an archive of that size has.
[[nodiscard]] std::size_t release_piece_count(std::uint64_t package_bytes);
/// The digests of an archive's pieces, in order.
[[nodiscard]] std::vector<Sha256Digest> release_pieces(std::span<const std::byte> archive);
/// What stands for one piece in its topic: the archive's digest, shortened, and the piece's index.
[[nodiscard]] std::string release_piece_name(const Sha256Digest& package, std::size_t index);
/// Short and for file names: the archive's digest, 16 digits.
[[nodiscard]] std::string package_name(const Sha256Digest& package);

/// CBOR map of docs/wire-format.md. kInvalidInput when a field is outside its range.
[[nodiscard]] Result<Payload> encode(const ReleaseMessage& release);
/// Refused as unsupported when the payload is of another type, as malformed otherwise.
[[nodiscard]] Admitted<ReleaseMessage> decode_release(const VerifiedPayload& payload);

/// An envelope of the topic release/order, opened with the release keys, for that fleet.
[[nodiscard]] Admitted<ReleaseMessage> open_release(Bytes envelope, const EnvelopeOpener& opener,
                                                    const std::string& fleet);

}  // namespace aflguard
