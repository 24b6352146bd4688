#include <algorithm>
#include <array>

#include "core/base/sha256.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("SHA-256 gives the digests of the standard's examples") {
  TEST_ASSERT_EQUAL_STRING("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                           sha256_hex("").c_str());
  TEST_ASSERT_EQUAL_STRING("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                           sha256_hex("abc").c_str());
  TEST_ASSERT_EQUAL_STRING("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
                           sha256_hex(std::string(1'000'000, 'a')).c_str());
}

TEST("SHA-256 pads messages right at every length around a block") {
  // 55 and 56 bytes are where the length field moves into another block.
  TEST_ASSERT_EQUAL_STRING("9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
                           sha256_hex(std::string(55, 'a')).c_str());
  TEST_ASSERT_EQUAL_STRING("b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
                           sha256_hex(std::string(56, 'a')).c_str());
  TEST_ASSERT_EQUAL_STRING("ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
                           sha256_hex(std::string(64, 'a')).c_str());
}

TEST("SHA-256 of parts is that of the whole, wherever it is cut") {
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>(i);
  const auto bytes = std::as_bytes(std::span(text));
  const Sha256Digest whole = sha256(bytes);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (const std::size_t second : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}}) {
      const std::size_t middle = std::min(second, bytes.size() - first);
      const std::array<std::span<const std::byte>, 3> parts = {
          bytes.first(first), bytes.subspan(first, middle), bytes.subspan(first + middle)};
      TEST_ASSERT_TRUE(sha256(parts) == whole);
    }
  }
}
