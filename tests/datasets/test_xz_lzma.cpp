#include <lzma.h>

#include "datasets/xz_lzma.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;

namespace {

std::vector<std::byte> xz(const std::string& text) {
  std::vector<std::byte> packed(text.size() + 1000);
  std::size_t size = 0;
  TEST_ASSERT_EQUAL_INT(
      LZMA_OK, lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                       reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                       reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size()));
  packed.resize(size);
  return packed;
}

}  // namespace

TEST("Xz data longer than one chunk comes back whole") {
  std::string text;
  while (text.size() < 2500000) text += std::to_string(text.size());
  const auto content = datasets::unxz(xz(text), text.size());
  ASSERT_OK(content);
  TEST_ASSERT_EQUAL_size_t(text.size(), content->size());
  TEST_ASSERT_EQUAL_MEMORY(text.data(), content->data(), text.size());
}

TEST("Xz data that holds one byte more than allowed is refused") {
  ASSERT_OK(datasets::unxz(xz("12345"), 5));
  ASSERT_CONTAINS(message_of(datasets::unxz(xz("12345"), 4)), "more than the expected 4 bytes");
}

TEST("Every truncation of xz data, other data and bytes behind it are refused") {
  auto packed = xz("some text, some text, some text");
  for (std::size_t length = 0; length < packed.size(); ++length) {
    ASSERT_CONTAINS(message_of(datasets::unxz(std::span(packed).first(length), 1000)), "cut short");
  }
  packed.push_back(std::byte{0});
  ASSERT_CONTAINS(message_of(datasets::unxz(packed, 1000)), "other bytes follow");
  const std::string other = "this is plain text";
  ASSERT_CONTAINS(message_of(datasets::unxz(std::as_bytes(std::span(other)), 1000)), "not an .xz file");
}

TEST("A changed byte inside xz data is noticed") {
  auto packed = xz("some text, some text, some text");
  packed[packed.size() / 2] ^= std::byte{1};
  ASSERT_CONTAINS(message_of(datasets::unxz(packed, 1000)), "damaged");
}
