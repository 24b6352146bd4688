#include "core/envelope/piece.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

PieceHeader sample_header() {
  PieceHeader header;
  header.round = 2;
  header.index = 3;
  header.count = 4;
  header.transfer = 0x0102030405060708;
  header.total = 13;
  return header;
}

}  // namespace

TEST("A piece is laid out as docs/wire-format.md says") {
  const Bytes message = write_piece(sample_header(), bytes_of({0xaa}));
  const Bytes expected = bytes_of({1, 0, 0, 2, 0, 3, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 13, 0xaa});
  TEST_ASSERT_TRUE(expected == message);
  const auto piece = read_piece(message);
  ASSERT_ADMITTED(piece);
  TEST_ASSERT_TRUE(sample_header() == piece->header);
  TEST_ASSERT_EQUAL_size_t(12, piece->header.offset());
}

TEST("Pieces of equal size cover the envelope exactly, whatever its size and the limit") {
  for (std::uint32_t total = 1; total < 200; ++total) {
    for (std::uint32_t limit = 1; limit <= total; ++limit) {
      PieceHeader header;
      header.total = total;
      header.count = static_cast<std::uint16_t>((total + limit - 1) / limit);
      std::size_t covered = 0;
      for (header.index = 0; header.index < header.count; ++header.index) {
        TEST_ASSERT_EQUAL_size_t(covered, header.offset());
        TEST_ASSERT_TRUE(header.body_size() >= 1 && header.body_size() <= limit);
        ASSERT_ADMITTED(read_piece(write_piece(header, Bytes(header.body_size()))));
        covered += header.body_size();
      }
      TEST_ASSERT_EQUAL_size_t(total, covered);
    }
  }
}

TEST("Headers that contradict themselves are refused") {
  const Bytes good = write_piece(sample_header(), bytes_of({0xaa}));
  const auto with = [&](std::size_t at, int value) {
    Bytes changed = good;
    changed[at] = static_cast<std::byte>(value);
    return changed;
  };
  ASSERT_REFUSED(kUnsupported, read_piece(with(0, 2)));
  ASSERT_REFUSED(kUnsupported, read_piece(with(1, 1)));
  ASSERT_REFUSED(kMalformed, read_piece(with(5, 4)));     // index 4 of 4
  ASSERT_REFUSED(kMalformed, read_piece(with(7, 0)));     // no pieces
  ASSERT_REFUSED(kMalformed, read_piece(with(19, 0)));    // no bytes
  ASSERT_REFUSED(kMalformed, read_piece(with(19, 14)));   // the last piece would have 2 bytes
  ASSERT_REFUSED(kMalformed, read_piece(with(6, 0xff)));  // more pieces than bytes
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_REFUSED(kMalformed, read_piece(std::span(good).first(size)));
  }
}

TEST("A piece of 64 KiB is taken, and one byte more is refused") {
  PieceHeader header;
  header.total = kMaxPieceBytes - kPieceHeaderBytes;
  const Bytes largest = write_piece(header, Bytes(header.total));
  TEST_ASSERT_EQUAL_size_t(kMaxPieceBytes, largest.size());
  ASSERT_ADMITTED(read_piece(largest));
  ++header.total;
  ASSERT_REFUSED(kOversized, read_piece(write_piece(header, Bytes(header.total))));
}

TEST("Every sealed envelope has its own transfer id, out of its signature") {
  Fleet fleet;
  UpdateMessage update = sample_update();
  const Bytes first = fleet.seal_by_device(encode(update).value());
  ++update.sequence;
  const Bytes second = fleet.seal_by_device(encode(update).value());
  TEST_ASSERT_TRUE(transfer_id_of(first) != transfer_id_of(second));
  TEST_ASSERT_EQUAL_UINT64(std::to_integer<std::uint64_t>(first[first.size() - 64]),
                           transfer_id_of(first) >> 56);
  TEST_ASSERT_EQUAL_UINT64(0, transfer_id_of(std::span(first).first(63)));
}
