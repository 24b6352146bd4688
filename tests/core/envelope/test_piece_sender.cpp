#include <set>

#include "core/envelope/piece_sender.h"
#include "tests/core/envelope/fleet.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

PieceSender sender_of(std::size_t size, std::size_t body, std::size_t window) {
  Bytes envelope(size);
  for (std::size_t i = 0; i < size; ++i) envelope[i] = static_cast<std::byte>(i * 7);
  return PieceSender::create(std::move(envelope), {.body_bytes = body, .window = window}).value();
}

std::set<int> take_all(PieceSender& sender) {
  std::set<int> indices;
  while (const auto piece = sender.next()) indices.insert(piece->index);
  return indices;
}

}  // namespace

TEST("No more pieces are on their way than the window allows") {
  PieceSender sender = sender_of(1000, 100, 3);
  TEST_ASSERT_EQUAL_size_t(3, take_all(sender).size());
  sender.acknowledged(1);
  const auto fourth = sender.next();
  TEST_ASSERT_TRUE(fourth.has_value());
  TEST_ASSERT_EQUAL_INT(3, fourth->index);
  TEST_ASSERT_FALSE(sender.next().has_value());
}

TEST("After a broken link only the pieces that were not acknowledged go again") {
  PieceSender sender = sender_of(1000, 100, 4);
  TEST_ASSERT_EQUAL_size_t(4, take_all(sender).size());
  sender.acknowledged(0);
  sender.acknowledged(2);
  sender.link_lost();
  TEST_ASSERT_EQUAL_size_t(0, sender.on_their_way());
  std::set<int> rest;
  while (!sender.all_acknowledged()) {
    for (const int index : take_all(sender)) {
      rest.insert(index);
      sender.acknowledged(static_cast<std::uint16_t>(index));
    }
  }
  TEST_ASSERT_TRUE((rest == std::set<int>{1, 3, 4, 5, 6, 7, 8, 9}));
  TEST_ASSERT_EQUAL_UINT16(0, sender.round());
}

TEST("An acknowledgement that outlived its link counts, and one that comes twice counts once") {
  PieceSender sender = sender_of(300, 100, 3);
  TEST_ASSERT_EQUAL_size_t(3, take_all(sender).size());
  sender.link_lost();
  sender.acknowledged(0);
  sender.acknowledged(0);
  sender.acknowledged(99);
  TEST_ASSERT_TRUE((take_all(sender) == std::set<int>{1, 2}));
  TEST_ASSERT_FALSE(sender.all_acknowledged());
}

TEST("A piece that could not be handed over goes again") {
  PieceSender sender = sender_of(300, 100, 3);
  TEST_ASSERT_EQUAL_size_t(3, take_all(sender).size());
  sender.failed(1);
  sender.failed(1);
  TEST_ASSERT_TRUE((take_all(sender) == std::set<int>{1}));
}

TEST("Starting over sends everything in a new round of the same transfer") {
  PieceSender sender = sender_of(300, 100, 3);
  const std::uint64_t transfer = sender.transfer();
  for (const int index : take_all(sender)) sender.acknowledged(static_cast<std::uint16_t>(index));
  TEST_ASSERT_TRUE(sender.all_acknowledged());
  sender.start_over();
  TEST_ASSERT_FALSE(sender.all_acknowledged());
  const auto first = sender.next();
  TEST_ASSERT_TRUE(first.has_value());
  const auto piece = read_piece(first->message);
  ASSERT_ADMITTED(piece);
  TEST_ASSERT_EQUAL_UINT16(1, piece->header.round);
  TEST_ASSERT_EQUAL_UINT64(transfer, piece->header.transfer);
  TEST_ASSERT_EQUAL_size_t(2, take_all(sender).size());
}

TEST("Sizes at the limits are taken and one above is refused") {
  ASSERT_OK(PieceSender::create(Bytes(65'535), {.body_bytes = 1, .window = 1}));
  ASSERT_CONTAINS(message_of(PieceSender::create(Bytes(65'536), {.body_bytes = 1, .window = 1})),
                  "over the limit of 65535");
  ASSERT_OK(PieceSender::create(Bytes(1), {.body_bytes = 65'516, .window = 1}));
  ASSERT_CONTAINS(message_of(PieceSender::create(Bytes(1), {.body_bytes = 65'517, .window = 1})),
                  "outside 1 to 65516");
  ASSERT_CONTAINS(message_of(PieceSender::create(Bytes(1), {.body_bytes = 0, .window = 1})), "outside 1 to");
  ASSERT_CONTAINS(message_of(PieceSender::create(Bytes(1), {.body_bytes = 1, .window = 0})), "window is 0");
  ASSERT_CONTAINS(message_of(PieceSender::create({}, {})), "envelope of 0 bytes");
}
