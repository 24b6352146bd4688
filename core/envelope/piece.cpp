#include "core/envelope/piece.h"

#include "core/base/byte_cursor.h"
#include "core/identity/signature.h"

namespace aflguard {

namespace {
constexpr std::uint8_t kPieceFormat = 1;
}

Bytes write_piece(const PieceHeader& header, std::span<const std::byte> body) {
  check(body.size() == header.body_size(), "a piece's body has the size that its header gives it");
  Bytes message;
  message.reserve(kPieceHeaderBytes + body.size());
  ByteWriter writer(message);
  writer.put_big_endian(kPieceFormat);
  writer.put_big_endian(std::uint8_t{0});
  writer.put_big_endian(header.round);
  writer.put_big_endian(header.index);
  writer.put_big_endian(header.count);
  writer.put_big_endian(header.transfer);
  writer.put_big_endian(header.total);
  message.insert(message.end(), body.begin(), body.end());
  return message;
}

Admitted<Piece> read_piece(std::span<const std::byte> message) {
  if (message.size() > kMaxPieceBytes) {
    return refuse(RefusalReason::kOversized, "piece of " + std::to_string(message.size()) +
                                                 " bytes is over the limit of " +
                                                 std::to_string(kMaxPieceBytes));
  }
  ByteReader reader(message);
  Piece piece;
  PieceHeader& header = piece.header;
  TRY(const auto format, reader.take_big_endian<std::uint8_t>());
  TRY(const auto flags, reader.take_big_endian<std::uint8_t>());
  if (format != kPieceFormat || flags != 0) {
    return unsupported("piece format " + std::to_string(format) + " with flags " + std::to_string(flags) +
                       " is not 1 with 0");
  }
  TRY(header.round, reader.take_big_endian<std::uint16_t>());
  TRY(header.index, reader.take_big_endian<std::uint16_t>());
  TRY(header.count, reader.take_big_endian<std::uint16_t>());
  TRY(header.transfer, reader.take_big_endian<std::uint64_t>());
  TRY(header.total, reader.take_big_endian<std::uint32_t>());
  if (header.index >= header.count) {
    return corrupt("piece " + std::to_string(header.index) + " of " + std::to_string(header.count) +
                   " does not exist");
  }
  // In this form it holds for total 0 too, whatever the count.
  if ((std::size_t{header.count} - 1) * header.stride() >= header.total) {
    return corrupt(std::to_string(header.total) + " bytes do not make " + std::to_string(header.count) +
                   " pieces of equal size");
  }
  if (reader.remaining() != header.body_size()) {
    return corrupt("piece " + std::to_string(header.index) + " has " + std::to_string(reader.remaining()) +
                   " bytes, needs " + std::to_string(header.body_size()));
  }
  TRY(piece.body, reader.take(reader.remaining()));
  return piece;
}

std::uint64_t transfer_id_of(std::span<const std::byte> envelope) {
  constexpr std::size_t kSignature = sizeof(EcdsaSignature);
  if (envelope.size() < kSignature) return 0;
  ByteReader reader(envelope.last(kSignature));
  return reader.take_big_endian<std::uint64_t>().value();
}

}  // namespace aflguard
