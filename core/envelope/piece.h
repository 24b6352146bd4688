#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/cbor/cbor.h"
#include "core/verdict/refusal.h"

namespace aflguard {

inline constexpr std::size_t kPieceHeaderBytes = 20;
inline constexpr std::size_t kMaxPieceBytes = 64u << 10;  ///< header included
inline constexpr std::size_t kDefaultPieceBody = kMaxPieceBytes - kPieceHeaderBytes;
inline constexpr std::uint32_t kMaxPieces = 65'535;

/// Where one piece belongs. docs/wire-format.md has the layout of its 20 bytes.
struct PieceHeader {
  std::uint16_t round = 0;
  std::uint16_t index = 0;
  std::uint16_t count = 1;
  std::uint64_t transfer = 0;
  std::uint32_t total = 0;  ///< bytes of the whole envelope

  /// Bytes of every piece but the last.
  [[nodiscard]] std::size_t stride() const { return (std::size_t{total} + count - 1) / count; }
  [[nodiscard]] std::size_t offset() const { return index * stride(); }
  [[nodiscard]] std::size_t body_size() const {
    return index + 1 < count ? stride() : std::size_t{total} - offset();
  }

  friend bool operator==(const PieceHeader&, const PieceHeader&) = default;
};

/// One received message, taken apart; `body` is borrowed from it.
struct Piece {
  PieceHeader header;
  std::span<const std::byte> body;
};

/// Header and body as they travel. The body must have header.body_size() bytes.
[[nodiscard]] Bytes write_piece(const PieceHeader& header, std::span<const std::byte> body);

/// Refused as oversized above 64 KiB, as unsupported when it is of another format, else as malformed.
[[nodiscard]] Admitted<Piece> read_piece(std::span<const std::byte> message);

/// The transfer id of an envelope: the first 8 bytes of its signature, which are its last 64.
/// 0 for anything too short to be an envelope.
[[nodiscard]] std::uint64_t transfer_id_of(std::span<const std::byte> envelope);

}  // namespace aflguard
