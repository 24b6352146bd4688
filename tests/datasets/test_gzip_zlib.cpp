#include <zlib.h>

#include "datasets/gzip_zlib.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;

namespace {

std::vector<std::byte> gzip(const std::string& text) {
  z_stream stream{};
  TEST_ASSERT_EQUAL_INT(Z_OK, deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY));
  std::vector<std::byte> packed(text.size() + 100);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  TEST_ASSERT_EQUAL_INT(Z_STREAM_END, deflate(&stream, Z_FINISH));
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace

TEST("Gzip data longer than one chunk comes back whole") {
  std::string text;
  while (text.size() < 3000000) text += std::to_string(text.size());
  const auto content = datasets::gunzip(gzip(text), text.size());
  ASSERT_OK(content);
  TEST_ASSERT_EQUAL_size_t(text.size(), content->size());
  TEST_ASSERT_EQUAL_MEMORY(text.data(), content->data(), text.size());
}

TEST("Gzip data that holds one byte more than allowed is refused") {
  ASSERT_OK(datasets::gunzip(gzip("12345"), 5));
  ASSERT_CONTAINS(message_of(datasets::gunzip(gzip("12345"), 4)), "more than the expected 4 bytes");
}

TEST("Every truncation of gzip data and every byte behind it is refused") {
  auto packed = gzip("some text, some text, some text");
  for (std::size_t length = 0; length < packed.size(); ++length) {
    ASSERT_CONTAINS(message_of(datasets::gunzip(std::span(packed).first(length), 1000)),
                    "gzip data is cut short");
  }
  packed.push_back(std::byte{0});
  ASSERT_CONTAINS(message_of(datasets::gunzip(packed, 1000)), "other bytes follow");
}

TEST("A changed byte inside gzip data is noticed") {
  auto packed = gzip("some text, some text, some text");
  packed[packed.size() - 6] ^= std::byte{1};  // inside the checksum
  ASSERT_CONTAINS(message_of(datasets::gunzip(packed, 1000)), "damaged");
}
