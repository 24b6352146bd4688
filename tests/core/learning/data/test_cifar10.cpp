#include "core/learning/data/cifar10.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using testing::message_of;

namespace {

/// Records whose label is their number and whose planes hold 1, 2 and 3.
std::string records(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += static_cast<char>(i);
    for (char plane = 1; plane <= 3; ++plane) text.append(kCifar10Plane, plane);
  }
  return text;
}

}  // namespace

TEST("CIFAR-10 batches give labels and planar pixels in the order of the files") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "a.bin", records(2)));
  ASSERT_OK(write_file_atomically(folder / "b.bin", records(2)));
  const auto data = read_cifar10("cifar-10", {folder / "a.bin", folder / "b.bin"}, 2);
  ASSERT_OK(data);
  TEST_ASSERT_TRUE((data->labels == std::vector<std::int64_t>{0, 1, 0, 1}));
  TEST_ASSERT_TRUE((data->sample_shape == std::vector<std::size_t>{3, 32, 32}));
  const auto& pixels = std::get<std::vector<std::uint8_t>>(data->features);
  TEST_ASSERT_EQUAL_UINT8(1, pixels[kCifar10Plane - 1]);
  TEST_ASSERT_EQUAL_UINT8(2, pixels[kCifar10Plane]);
  TEST_ASSERT_EQUAL_UINT8(3, pixels[3 * kCifar10Plane - 1]);
}

TEST("A CIFAR-10 batch that is too short or too long is named with both sizes") {
  const testing::TemporaryFolder folder;
  for (const std::size_t size :
       {std::size_t{0}, kCifar10Record, 2 * kCifar10Record - 1, 2 * kCifar10Record + 1}) {
    std::string text = records(3);
    text.resize(size);
    ASSERT_OK(write_file_atomically(folder / "a.bin", text));
    const std::string message = message_of(read_cifar10("c", {folder / "a.bin"}, 2));
    ASSERT_CONTAINS(message, (folder / "a.bin").string());
    ASSERT_CONTAINS(message, "has " + std::to_string(size) + " bytes");
    ASSERT_CONTAINS(message, "need 6146");
  }
}

TEST("A batch of any number of whole records is read when the count is free") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "a.bin", records(3)));
  TEST_ASSERT_EQUAL_size_t(3, read_cifar10("c", {folder / "a.bin"}, 0)->size());
  ASSERT_OK(write_file_atomically(folder / "a.bin", records(3).substr(1)));
  ASSERT_CONTAINS(message_of(read_cifar10("c", {folder / "a.bin"}, 0)), "multiple of 3073");
}

TEST("A CIFAR-10 label above nine is refused with its record") {
  const testing::TemporaryFolder folder;
  std::string text = records(2);
  text[kCifar10Record] = 10;
  ASSERT_OK(write_file_atomically(folder / "a.bin", text));
  ASSERT_CONTAINS(message_of(read_cifar10("c", {folder / "a.bin"}, 2)), "record 1 has label 10");
}
