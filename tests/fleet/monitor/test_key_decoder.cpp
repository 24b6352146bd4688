#include "fleet/monitor/key_decoder.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::view;

namespace {

std::vector<KeyKind> kinds(const std::vector<Key>& keys) {
  std::vector<KeyKind> result;
  for (const Key& key : keys) result.push_back(key.kind);
  return result;
}

}  // namespace

TEST("Letters, Enter, Backspace and the keys with sequences are told apart") {
  KeyDecoder decoder;
  const auto keys = decoder.feed("q/\r\x7f\x1b[A\x1bOB\x1b[5~\x1b[6~\x1b[H\x1b[4~");
  const std::vector<KeyKind> expected = {
      KeyKind::kCharacter, KeyKind::kCharacter, KeyKind::kEnter,    KeyKind::kBackspace, KeyKind::kUp,
      KeyKind::kDown,      KeyKind::kPageUp,    KeyKind::kPageDown, KeyKind::kHome,      KeyKind::kEnd};
  TEST_ASSERT_TRUE(kinds(keys) == expected);
  TEST_ASSERT_EQUAL_CHAR('q', keys[0].character);
  TEST_ASSERT_FALSE(decoder.pending());
}

TEST("A sequence may come in pieces, and Escape alone is a key once nothing follows") {
  KeyDecoder decoder;
  TEST_ASSERT_TRUE(decoder.feed("\x1b").empty());
  TEST_ASSERT_TRUE(decoder.feed("[").empty());
  TEST_ASSERT_TRUE(kinds(decoder.feed("A")) == std::vector<KeyKind>{KeyKind::kUp});
  TEST_ASSERT_TRUE(decoder.feed("\x1b").empty());
  TEST_ASSERT_TRUE(decoder.pending());
  TEST_ASSERT_TRUE(kinds(decoder.flush()) == std::vector<KeyKind>{KeyKind::kEscape});
  TEST_ASSERT_TRUE(decoder.flush().empty());
  const std::vector<KeyKind> expected = {KeyKind::kEscape, KeyKind::kCharacter};
  TEST_ASSERT_TRUE(kinds(decoder.feed("\x1bq")) == expected);
}

TEST("Sequences that nobody knows, controls and endless ones do nothing") {
  KeyDecoder decoder;
  TEST_ASSERT_TRUE(decoder.feed("\x1b[24~\x1b[1;5C\x01\x02\xc3\xa9").empty());
  TEST_ASSERT_TRUE(decoder.feed("\x1b[" + std::string(1000, '1')).size() < 1000);
  (void)decoder.flush();
  TEST_ASSERT_EQUAL_size_t(1, decoder.feed("q").size());
}
