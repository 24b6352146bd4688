#include <cstdint>
#include <vector>

#include "core/compression/compression.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

Bytes sample(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 7);
  return bytes;
}

}  // namespace

TEST("What was compressed comes back") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20}) {
    const auto frame = compress(sample(size));
    ASSERT_OK(frame);
    const auto back = decompress(*frame, size);
    ASSERT_OK(back);
    TEST_ASSERT_TRUE(*back == sample(size));
  }
}

TEST("A frame of another size than expected is refused by its head alone") {
  const Bytes bomb = compress(Bytes(std::size_t{64} << 20)).value();
  TEST_ASSERT_TRUE(bomb.size() < 10'000);
  ASSERT_CONTAINS(message_of(decompress(bomb, 1000)), "would become 67108864 bytes, 1000 are expected");
  ASSERT_CONTAINS(message_of(decompress(compress(sample(999)).value(), 1000)), "would become 999 bytes");
  ASSERT_CONTAINS(message_of(decompress(compress(sample(1001)).value(), 1000)), "would become 1001 bytes");
  // A head that promises what the frame does not hold allocates what was expected, and no more.
  Bytes cut = compress(sample(1000)).value();
  cut.resize(cut.size() - 1);
  ASSERT_CONTAINS(message_of(decompress(cut, 1000)), "damaged");
}

TEST("Bytes that are no single frame are refused") {
  const Bytes frame = compress(sample(1000)).value();
  Bytes two = frame;
  two.insert(two.end(), frame.begin(), frame.end());
  ASSERT_CONTAINS(message_of(decompress(two, 1000)), "more than one zstd frame");
  ASSERT_CONTAINS(message_of(decompress(two, 2000)), "would become 1000 bytes");
  Bytes longer = frame;
  longer.push_back(std::byte{0});
  ASSERT_CONTAINS(message_of(decompress(longer, 1000)), "more than one zstd frame");
  ASSERT_CONTAINS(message_of(decompress(sample(100), 100)), "no zstd frame");
  ASSERT_CONTAINS(message_of(decompress({}, 100)), "no zstd frame");
  ASSERT_CONTAINS(message_of(decompress({}, 0)), "no zstd frame");
}

TEST("Whatever one byte becomes, decompressing ends with the expected size or a refusal") {
  const Bytes frame = compress(sample(300)).value();
  for (std::size_t i = 0; i < frame.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      Bytes changed = frame;
      changed[i] = static_cast<std::byte>(value);
      const auto back = decompress(changed, 300);
      if (back.ok()) TEST_ASSERT_EQUAL_size_t(300, back->size());
    }
  }
}
