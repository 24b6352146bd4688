#include "core/base/random.h"
#include "core/envelope/piece_assembler.h"
#include "core/envelope/piece_sender.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr PieceAssembler::Time kStart{};
constexpr auto at_second(int seconds) {
  return kStart + std::chrono::seconds(seconds);
}

/// Different envelopes for different seeds; their last 64 bytes make different transfer ids.
Bytes envelope_of(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes envelope(size);
  for (std::byte& byte : envelope) byte = static_cast<std::byte>(random.next());
  return envelope;
}

std::vector<Bytes> pieces_of(const Bytes& envelope, std::size_t body, int round = 0) {
  PieceSender sender = PieceSender::create(envelope, {.body_bytes = body, .window = kMaxPieces}).value();
  for (int i = 0; i < round; ++i) sender.start_over();
  std::vector<Bytes> pieces;
  while (auto piece = sender.next()) pieces.push_back(std::move(piece->message));
  return pieces;
}

/// Feeds all of them; the envelope if one became complete.
std::optional<Bytes> feed(PieceAssembler& assembler, std::string_view source,
                          const std::vector<Bytes>& pieces, PieceAssembler::Time now = kStart) {
  std::optional<Bytes> complete;
  for (const Bytes& piece : pieces) {
    auto taken = assembler.accept(source, piece, now);
    ASSERT_ADMITTED(taken);
    if (taken->has_value()) complete = std::move(*taken);
  }
  return complete;
}

std::vector<Bytes> first_of(const std::vector<Bytes>& pieces, std::size_t count) {
  return {pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

TEST("Pieces in any order, with repeats, make the envelope exactly once") {
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const Bytes envelope = envelope_of(1 + random.below(5000), static_cast<std::uint64_t>(trial));
    std::vector<Bytes> pieces = pieces_of(envelope, 1 + random.below(700));
    const std::size_t repeats = random.below(pieces.size() + 1);
    for (std::size_t i = 0; i < repeats; ++i) pieces.push_back(pieces[i]);
    random.shuffle(std::span(pieces));
    PieceAssembler assembler;
    int completed = 0;
    for (const Bytes& piece : pieces) {
      const auto taken = assembler.accept("a", piece, kStart);
      ASSERT_ADMITTED(taken);
      if (!taken->has_value()) continue;
      ++completed;
      TEST_ASSERT_TRUE(**taken == envelope);
    }
    TEST_ASSERT_EQUAL_INT(1, completed);
    TEST_ASSERT_EQUAL_size_t(0, assembler.bytes());
  }
}

TEST("After a link broke, the pieces that were missing complete the transfer") {
  const Bytes envelope = envelope_of(1000, 1);
  PieceSender sender = PieceSender::create(envelope, {.body_bytes = 100, .window = 4}).value();
  PieceAssembler assembler;
  for (int i = 0; i < 4; ++i) {
    const auto piece = sender.next();
    if (i % 2 == 1) continue;  // lost with the link
    sender.acknowledged(piece->index);
    ASSERT_ADMITTED(assembler.accept("a", piece->message, kStart));
  }
  sender.link_lost();
  std::optional<Bytes> complete;
  int sent = 0;
  while (auto piece = sender.next()) {
    ++sent;
    sender.acknowledged(piece->index);
    auto taken = assembler.accept("a", piece->message, kStart);
    ASSERT_ADMITTED(taken);
    if (taken->has_value()) complete = std::move(*taken);
  }
  TEST_ASSERT_EQUAL_INT(8, sent);
  TEST_ASSERT_TRUE(complete == envelope);
}

TEST("A new round fills the gaps that a broker left") {
  const Bytes envelope = envelope_of(1000, 1);
  PieceAssembler assembler;
  const auto pieces = pieces_of(envelope, 100);
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(pieces, 6)).has_value());
  TEST_ASSERT_TRUE(
      (assembler.missing("a", transfer_id_of(envelope)) == std::vector<std::uint16_t>{6, 7, 8, 9}));
  TEST_ASSERT_TRUE(feed(assembler, "a", pieces_of(envelope, 100, 1)) == envelope);
}

TEST("Late repeats of a finished transfer open nothing, and a new round of it is taken again") {
  const Bytes envelope = envelope_of(1000, 1);
  PieceAssembler assembler;
  TEST_ASSERT_TRUE(feed(assembler, "a", pieces_of(envelope, 100)) == envelope);
  TEST_ASSERT_FALSE(feed(assembler, "a", pieces_of(envelope, 100)).has_value());
  TEST_ASSERT_EQUAL_size_t(0, assembler.bytes());
  TEST_ASSERT_TRUE(feed(assembler, "a", pieces_of(envelope, 100, 1)) == envelope);
}

TEST("A sender that restarted in round 0 is heard again once its finished transfer is forgotten") {
  const Bytes envelope = envelope_of(1000, 1);
  PieceAssembler assembler;
  TEST_ASSERT_TRUE(feed(assembler, "a", pieces_of(envelope, 100, 5)) == envelope);
  TEST_ASSERT_FALSE(feed(assembler, "a", pieces_of(envelope, 100), at_second(120)).has_value());
  TEST_ASSERT_TRUE(feed(assembler, "a", pieces_of(envelope, 100), at_second(121)) == envelope);
}

TEST("Half a transfer and then silence is dropped, not a second too early") {
  PieceAssembler assembler;
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(pieces_of(envelope_of(1000, 1), 100), 5)).has_value());
  TEST_ASSERT_EQUAL_size_t(1000, assembler.bytes());
  TEST_ASSERT_EQUAL_size_t(0, assembler.expire(at_second(120)));
  TEST_ASSERT_EQUAL_size_t(1, assembler.expire(at_second(121)));
  TEST_ASSERT_EQUAL_size_t(0, assembler.bytes());
  TEST_ASSERT_EQUAL_size_t(0, assembler.sources());
}

TEST("A repeat does not keep a transfer alive, a new piece does") {
  const auto pieces = pieces_of(envelope_of(1000, 1), 100);
  PieceAssembler assembler;
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(pieces, 1)).has_value());
  ASSERT_ADMITTED(assembler.accept("a", pieces[0], at_second(100)));
  TEST_ASSERT_EQUAL_size_t(1, assembler.expire(at_second(130)));
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(pieces, 1), at_second(130)).has_value());
  ASSERT_ADMITTED(assembler.accept("a", pieces[1], at_second(230)));
  TEST_ASSERT_EQUAL_size_t(0, assembler.expire(at_second(260)));
}

TEST("An envelope of the largest size is taken, and one byte more is refused without allocating") {
  PieceAssemblerLimits limits;
  limits.max_envelope_bytes = 1000;
  PieceAssembler assembler(limits);
  TEST_ASSERT_TRUE(feed(assembler, "a", pieces_of(envelope_of(1000, 1), 100)).has_value());
  const auto larger = pieces_of(envelope_of(1001, 1), 100);
  ASSERT_REFUSED(kOversized, assembler.accept("b", larger[0], kStart));
  TEST_ASSERT_EQUAL_size_t(0, assembler.bytes());
  TEST_ASSERT_EQUAL_size_t(0, assembler.sources());
}

TEST("A sender's new transfer pushes out its own older one, never another's") {
  PieceAssemblerLimits limits;
  limits.max_bytes_per_source = 1500;
  limits.max_bytes = 2500 + 3 * kTransferOverhead;
  PieceAssembler assembler(limits);
  const auto first = pieces_of(envelope_of(1000, 1), 100);
  const auto second = pieces_of(envelope_of(1000, 2), 100);
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(first, 9)).has_value());
  TEST_ASSERT_FALSE(feed(assembler, "b", first_of(first, 9)).has_value());
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(second, 9)).has_value());
  TEST_ASSERT_EQUAL_size_t(1000, assembler.bytes_of("a"));
  TEST_ASSERT_TRUE(feed(assembler, "b", {first[9]}).has_value());
  TEST_ASSERT_TRUE(feed(assembler, "a", {second[9]}).has_value());
}

TEST("When all senders together reach the limit, a further one is refused as overloaded and others go on") {
  PieceAssemblerLimits limits;
  limits.max_bytes = 2000 + 2 * kTransferOverhead;
  PieceAssembler assembler(limits);
  const auto first = pieces_of(envelope_of(1000, 1), 100);
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(first, 9)).has_value());
  TEST_ASSERT_FALSE(feed(assembler, "b", first_of(first, 9)).has_value());
  ASSERT_REFUSED(kOverloaded, assembler.accept("c", first[0], kStart));
  TEST_ASSERT_EQUAL_size_t(2, assembler.sources());
  TEST_ASSERT_TRUE(feed(assembler, "a", {first[9]}).has_value());
  TEST_ASSERT_FALSE(feed(assembler, "c", first_of(first, 9)).has_value());
}

TEST("Many tiny transfers of one sender hold four places") {
  PieceAssembler assembler;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    ASSERT_ADMITTED(assembler.accept("a", pieces_of(envelope_of(100, seed), 50)[0], kStart));
  }
  TEST_ASSERT_EQUAL_size_t(400, assembler.bytes_of("a"));
}

TEST("However many senders finish something, none is refused for their number") {
  PieceAssembler assembler;
  const auto pieces = pieces_of(envelope_of(64, 1), 64);
  for (int i = 0; i < 50'000; ++i) {
    TEST_ASSERT_TRUE(feed(assembler, "pi-" + std::to_string(i), pieces).has_value());
  }
  TEST_ASSERT_EQUAL_size_t(0, assembler.sources());
  TEST_ASSERT_EQUAL_size_t(0, assembler.bytes());
}

TEST("Tiny transfers of many senders are charged with what they cost beside their bytes") {
  PieceAssemblerLimits limits;
  limits.max_bytes = 10 * (100 + kTransferOverhead);
  PieceAssembler assembler(limits);
  const Bytes piece = pieces_of(envelope_of(100, 1), 50)[0];
  for (int i = 0; i < 10; ++i) ASSERT_ADMITTED(assembler.accept("pi-" + std::to_string(i), piece, kStart));
  ASSERT_REFUSED(kOverloaded, assembler.accept("pi-10", piece, kStart));
}

TEST("Where there is no room, transfers that have stalled make some, and it is known whose they were") {
  PieceAssemblerLimits limits;
  limits.max_bytes = 2000 + 2 * kTransferOverhead;
  PieceAssembler assembler(limits);
  const Bytes envelope = envelope_of(1000, 1);
  const auto pieces = pieces_of(envelope, 100);
  TEST_ASSERT_FALSE(feed(assembler, "slow", first_of(pieces, 5)).has_value());
  TEST_ASSERT_FALSE(feed(assembler, "b", first_of(pieces, 5), at_second(8)).has_value());
  ASSERT_REFUSED(kOverloaded, assembler.accept("c", pieces[0], at_second(10)));
  TEST_ASSERT_TRUE(assembler.take_pushed_out().empty());
  ASSERT_ADMITTED(assembler.accept("c", pieces[0], at_second(11)));
  const auto pushed_out = assembler.take_pushed_out();
  TEST_ASSERT_EQUAL_size_t(1, pushed_out.size());
  TEST_ASSERT_EQUAL_STRING("slow", pushed_out[0].source.c_str());
  TEST_ASSERT_EQUAL_UINT64(transfer_id_of(envelope), pushed_out[0].transfer);
  ASSERT_REFUSED(kOverloaded, assembler.accept("d", pieces[0], at_second(12)));  // b has not stalled
  TEST_ASSERT_EQUAL_size_t(2000, assembler.bytes());
}

TEST("It can be asked beforehand whether a piece opens a transfer") {
  PieceAssembler assembler;
  const auto pieces = pieces_of(envelope_of(1000, 1), 100);
  const auto opens = [&](std::size_t index) {
    return assembler.opens("a", read_piece(pieces[index])->header, kStart);
  };
  TEST_ASSERT_TRUE(opens(0));
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(pieces, 1)).has_value());
  TEST_ASSERT_FALSE(opens(0));
  TEST_ASSERT_FALSE(opens(1));
  TEST_ASSERT_TRUE(assembler.opens("b", read_piece(pieces[1])->header, kStart));
  TEST_ASSERT_TRUE(feed(assembler, "a", pieces).has_value());
  TEST_ASSERT_FALSE(opens(9));  // a late repeat
}

TEST("Pieces of one transfer that disagree about its size are refused, and the transfer goes on") {
  const Bytes envelope = envelope_of(1000, 1);
  const auto pieces = pieces_of(envelope, 100);
  PieceAssembler assembler;
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(pieces, 9)).has_value());
  ASSERT_REFUSED(kMalformed, assembler.accept("a", pieces_of(envelope, 200)[0], kStart));
  TEST_ASSERT_TRUE(feed(assembler, "a", {pieces[9]}) == envelope);
}

TEST("The same transfer id from two senders makes two transfers") {
  const Bytes envelope = envelope_of(1000, 1);
  const auto pieces = pieces_of(envelope, 100);
  PieceAssembler assembler;
  TEST_ASSERT_FALSE(feed(assembler, "a", first_of(pieces, 9)).has_value());
  TEST_ASSERT_FALSE(feed(assembler, "b", {pieces[9]}).has_value());
  TEST_ASSERT_TRUE(feed(assembler, "a", {pieces[9]}) == envelope);
}
